// The whole facilitator on a real chain and a real database, and the people who pay through it.
import { type FaultProxy, seeded, seedOf, startFaultProxy } from '@referrer/chain/testing'
import {
  confirmed,
  deployMarket,
  developmentAccount,
  escrowDeposits,
  type LocalChain,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  type Product,
  privateKeyOf,
  publishWithProof,
  registerIdentity,
  SANDBOX_TOKEN,
  startLocalChain,
} from '@referrer/contracts/local'
import { connect, type Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  type Hash,
  hexToBytes,
  keccak256,
  type LocalAccount,
  numberToHex,
  stringToBytes,
} from 'viem'
import { generatePrivateKey, type HDAccount, privateKeyToAccount } from 'viem/accounts'
import { readConfig } from '../src/config.ts'
import { type Facilitator, migrations, type Overrides, startFacilitator } from '../src/facilitator.ts'
import type { SettlementEvent } from '../src/settlement/events.ts'
import { type Answer, type Ask, send } from './asking.ts'
import { type Body, type PayloadOptions, payloadOf, requirementsOf, type Till } from './payloads.ts'
import { startTestShop, type TestShop } from './shop.ts'

export interface TestFacilitator {
  /** What runs now. */
  facilitator: Facilitator
  /** As it was started: another process can be started with the same. */
  env: Record<string, string>
  chain: LocalChain
  market: Market
  chainId: number
  sql: Sql
  /** Between the facilitator and its node. */
  node: FaultProxy
  /**
   * Looks at every call to a node (its JSON) before it is sent: `refuse` it, or `lose` its answer. `calls`: those that were answered.
   */
  nodes: { intercept: ((call: string) => Fate | Promise<Fate>) | undefined; calls: string[] }
  /** Added to the facilitator's clock. */
  clock: { aheadMs: number }
  events: SettlementEvent[]
  merchant: { account: HDAccount; merchantId: bigint; productId: Product['productId'] }
  reviewer: { account: HDAccount; agentId: bigint; reviewId: bigint }
  relayers: readonly [HDAccount, ...HDAccount[]]
  till: Till
  shop: TestShop
  /** Prepared wallets with 1,000 USDC each and no gas. */
  buyers: LocalAccount[]
  newBuyer(usdc?: bigint): Promise<LocalAccount>
  newAgent(owner: LocalAccount): Promise<bigint>
  /** A ref link of this review, changed as a test needs it. */
  mint(change?: Partial<AttributionToken.Terms>, seed?: number): Promise<string>
  payload(buyer: LocalAccount, options?: PayloadOptions): Promise<Body>
  call(method: string, path: string, ask?: Ask): Promise<Answer>
  settle(body: unknown, ask?: Omit<Ask, 'body'>): Promise<Answer>
  verify(body: unknown, ask?: Omit<Ask, 'body'>): Promise<Answer>
  balanceOf(address: Address): Promise<bigint>
  /** The escrows that a transaction created. */
  escrowsIn(transaction: Hash): Promise<ReturnType<typeof escrowDeposits>>
  grant(role: string, account: Address): Promise<void>
  revoke(role: string, account: Address): Promise<void>
  /** A further process on the same database and chain. */
  startAnother(env?: Record<string, string>, overrides?: Overrides): Promise<Facilitator>
  /** Ends the one that runs and starts it again. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** What becomes of a call to a node; an answer is given instead of the node's. */
type Fate = 'pass' | 'refuse' | 'lose' | Response

export interface HarnessOptions {
  chainId?: number
  /** Milliseconds between blocks; left out: a block per transaction. */
  blockTime?: number
  /** The chain's clock is ours, however many blocks it makes: for clients whose payments hold for a minute of our time. */
  keepsTime?: boolean
  /** How many blocks, its own included, make a transaction final. */
  confirmations?: number
  /** How many keys settle. */
  relayers?: number
  /** An empty database to use; left out: one of its own. */
  databaseUrl?: string
  buyers?: number
  env?: Record<string, string>
  overrides?: Overrides
}

export const ATTESTATION_SEED = 0xa1
export const PRICE = 1_000_000n
const FIRST_FREE_ACCOUNT = 12

/** Takes a few seconds: once for a file. */
export async function startTestFacilitator(options: HarnessOptions = {}): Promise<TestFacilitator> {
  const { chainId = 31_337, relayers: relayerCount = 1, buyers: buyerCount = 2 } = options
  const [chain, database, shop] = await Promise.all([
    startLocalChain({ chainId, port: 0, keepsTime: options.keepsTime ?? false }),
    options.databaseUrl === undefined ? freshDatabase(migrations) : joinDatabase(options.databaseUrl),
    startTestShop(),
  ])
  if (!chain.rpcUrl) throw new Error('the chain has no URL')
  const market = await deployMarket(chain.client)
  const node = await startFaultProxy({ target: chain.rpcUrl, fetch: chain.fetch, random: seeded(seedOf()) })
  const { merchant, reviewer } = await openShop(market)
  const relayers = await makeRelayers(market, relayerCount)
  const terms: AttributionToken.Terms = {
    chainId,
    splitRouter: market.addresses.SplitRouter,
    merchantEndpoint: shop.url,
    merchantId: Number(merchant.merchantId),
    productId: merchant.productId,
    reviewId: Number(reviewer.reviewId),
    reviewerAgentId: Number(reviewer.agentId),
    cashbackOfCommissionBps: 1_000,
    commissionMultiplierBps: 10_000,
    issuedAt: 1_750_000_000,
  }
  const mint = async (change: Partial<AttributionToken.Terms> = {}, seed = ATTESTATION_SEED) =>
    AttributionToken.mint({ ...terms, ...change }, await attestationKey(seed))
  const till: Till = {
    chainId,
    usdc: market.addresses.USDC,
    router: market.addresses.SplitRouter,
    token: SANDBOX_TOKEN,
    terms,
    attributionToken: await mint(),
  }
  shop.offer = requirementsOf(till, PRICE)

  const newBuyer = async (usdc = 1_000_000_000n) => {
    const buyer = privateKeyToAccount(generatePrivateKey())
    if (usdc > 0n) await mintUsdc(market, buyer.address, usdc)
    return buyer
  }
  const buyers: LocalAccount[] = []
  for (let count = 0; count < buyerCount; count += 1) buyers.push(await newBuyer())
  if (options.blockTime !== undefined) {
    await chain.client.setAutomine(false)
    await chain.client.setIntervalMining({ interval: options.blockTime / 1_000 })
  }

  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    LIMITS: 'memory',
    ALLOW_PRIVATE_HOSTS: 'true',
    RELAYER_PRIVATE_KEYS: relayers.map(privateKeyOf).join(','),
    ATTESTATION_PUBLIC_KEYS: JSON.stringify({
      [chainId]: [(await attestationKey(ATTESTATION_SEED)).attestationPubKey],
    }),
    SETUP_URL: 'https://market.test/.well-known/referrer-agent',
    WATCH_INTERVAL_MS: '20',
    CHAINS: JSON.stringify([
      {
        chainId,
        rpcUrls: [node.url],
        contracts: market.addresses,
        startBlock: 0,
        confirmations: options.confirmations ?? 1,
        pollIntervalMs: 50,
      },
    ]),
    ...options.env,
  }
  const clock = { aheadMs: 0 }
  const nodes: TestFacilitator['nodes'] = { intercept: undefined, calls: [] }
  const events: SettlementEvent[] = []
  const start = (change: Record<string, string> = {}, overrides: Overrides = {}) =>
    startFacilitator(readConfig({ ...env, ...change }), {
      clock: () => Date.now() + clock.aheadMs,
      fetch: (input, init) => throughNodes(nodes, node, input, init),
      onEvent: (event) => events.push(event),
      ...options.overrides,
      ...overrides,
    })

  const call: TestFacilitator['call'] = (method, path, ask) => send(test.facilitator.url, method, path, ask)
  const test: TestFacilitator = {
    facilitator: await start(),
    env,
    chain,
    market,
    chainId,
    sql: database.sql,
    node,
    nodes,
    clock,
    events,
    merchant,
    reviewer,
    relayers,
    till,
    shop,
    buyers,
    newBuyer,
    newAgent: (owner) => registerIdentity(market, owner),
    mint,
    async payload(buyer, payloadOptions) {
      // A chain of a block per transaction is soon ahead of all clocks.
      const { timestamp } = await chain.client.getBlock()
      const now = Math.max(Number(timestamp), Math.floor((Date.now() + clock.aheadMs) / 1_000))
      return payloadOf(till, buyer, now, payloadOptions)
    },
    call,
    settle: (body, ask) => call('POST', '/settle', { ...ask, body }),
    verify: (body, ask) => call('POST', '/verify', { ...ask, body }),
    balanceOf: (address) =>
      chain.client.readContract({
        address: market.addresses.USDC,
        abi: sandboxUSDCAbi,
        functionName: 'balanceOf',
        args: [address],
      }),
    escrowsIn: async (hash) => escrowDeposits(await chain.client.waitForTransactionReceipt({ hash })),
    grant: (role, account) => setRole(market, 'grantRole', role, account),
    revoke: (role, account) => setRole(market, 'revokeRole', role, account),
    startAnother: start,
    async restart() {
      await test.facilitator.stop()
      test.facilitator = await start()
    },
    async close() {
      await test.facilitator.stop()
      await Promise.all([node.close(), shop.close()])
      await chain.close()
      await database.drop()
    },
  }
  return test
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** To the first second of the next hour or day: a test that begins in the last one would lose what it has counted. */
export function toNext(spanMs: number, { clock }: TestFacilitator): void {
  clock.aheadMs += spanMs - ((Date.now() + clock.aheadMs) % spanMs)
}

function joinDatabase(url: string): TestDatabase {
  const sql = connect(url, { max: 5, name: 'referrer tests' })
  return { url, sql, drop: () => sql.end({ timeout: 1 }) }
}

const attestationKey = (seed: number) =>
  AttestationKey.signingKey(hexToBytes(numberToHex(seed, { size: 32 })))

/** A merchant with a product, and an agent that has reviewed it. */
export async function openShop(market: Market): Promise<Pick<TestFacilitator, 'merchant' | 'reviewer'>> {
  const { merchant, reviewer, stranger } = market.accounts
  await registerIdentity(market, stranger)
  const merchantId = await openMerchant(market, merchant)
  const product = { merchantId, productId: numberToHex(0xb0, { size: 32 }) }
  await listProduct(market, merchant, product, { commissionBps: 2_000 })
  const agentId = await registerIdentity(market, reviewer)
  const review = { agentId, product, content: '{"rating":5,"description":"Good"}', proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, review)
  return {
    merchant: { account: merchant, ...product },
    reviewer: { account: reviewer, agentId, reviewId },
  }
}

async function makeRelayers(market: Market, count: number): Promise<TestFacilitator['relayers']> {
  const others = Array.from({ length: count - 1 }, (_, at) => developmentAccount(FIRST_FREE_ACCOUNT + at))
  for (const { address } of others) await setRole(market, 'grantRole', 'SETTLER_ROLE', address)
  return [market.accounts.settler, ...others]
}

async function setRole(
  market: Market,
  functionName: 'grantRole' | 'revokeRole',
  role: string,
  account: Address,
): Promise<void> {
  const hash = await market.client.writeContract({
    account: market.accounts.admin,
    address: market.addresses.SplitRouter,
    abi: splitRouterAbi,
    functionName,
    args: [keccak256(stringToBytes(role)), account],
  })
  await confirmed(market, hash)
}

const isOf = ({ url }: FaultProxy, input: Parameters<typeof fetch>[0]) => String(input).startsWith(`${url}/`)

async function throughNodes(
  nodes: TestFacilitator['nodes'],
  node: FaultProxy,
  ...[input, init]: Parameters<typeof fetch>
): Promise<Response> {
  const call = String(init?.body)
  const fate = (await nodes.intercept?.(call)) ?? 'pass'
  if (fate instanceof Response) return fate
  if (fate === 'refuse') throw new TypeError('fetch failed')
  const answer = await (isOf(node, input) ? node.fetch : fetch)(input, init)
  nodes.calls.push(call)
  if (fate === 'lose') throw new TypeError('fetch failed')
  return answer
}
