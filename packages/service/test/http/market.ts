// The whole service with a real chain and a real database, and the people who trade there.
import {
  deployMarket,
  escrowDeposits,
  type LocalChain,
  type Market,
  type Product,
  privateKeyOf,
  publishWithProof,
  registerIdentity,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '@referrer/contracts/local'
import type { Sql } from '@referrer/database'
import { freshDatabase } from '@referrer/database/testing'
import { Attribution } from '@referrer/protocol'
import { type Hex, type LocalAccount, numberToHex } from 'viem'
import { readConfig } from '../../src/app/config.ts'
import { type Overrides, type Service, startService } from '../../src/app/service.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { BASE_URL, type Caller, callerOf, must } from './caller.ts'

export { BASE_URL } from './caller.ts'

/** Seeds of the keys that sign ref links, by the index of the chain. */
export const ATTESTATION_SEEDS: readonly Hex[] = [
  numberToHex(0xa1, { size: 32 }),
  numberToHex(0xa2, { size: 32 }),
]

export interface TestMarket {
  /** Calls the service. */
  call: Caller
  service: Service
  sql: Sql
  databaseUrl: string
  /** The default chain with its contracts and people. */
  market: Market
  chainId: number
  /** Every chain that the service serves. */
  chains: { chain: LocalChain; market: Market }[]
  /**
   * While `isDown`, no node answers the service. `only`: just these calls fail (given by parts of their JSON).
   * `answered`: the JSON of all calls that were answered. `again`: a call with one of these parts waits if one with it was answered before.
   */
  nodes: {
    isDown: boolean
    only: string | string[] | undefined
    answered: string[]
    again: { calls: readonly string[]; waitsFor: Promise<unknown> } | undefined
  }
  /** Added to the clocks of the service and of its callers. */
  clock: { aheadMs: number }
  /** The clocks of the service and of its callers stand still meanwhile, so that no limit refills, however slow the machine is. */
  atOnce<T>(work: () => Promise<T>): Promise<T>
  /** Waits until the newest blocks of all chains are indexed. */
  indexed(): Promise<void>
  /** Renames a table while the work is done, so that queries on it fail. */
  withoutTable<T>(name: string, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface MarketOptions {
  chainIds?: number[]
  /** The number of blocks after which the service's own transactions are final. */
  confirmations?: number
  /** The chain's clock is ours, however many blocks it makes: for clients whose payments hold for a minute of our time. */
  keepsTime?: boolean
  env?: Record<string, string>
  overrides?: Overrides
}

/** Owners can link chats, but the Bot API does not answer. */
export const SILENT_BOT = {
  TELEGRAM_BOT_TOKEN: '1:nobody',
  TELEGRAM_BOT_NAME: 'referrer_test_bot',
  TELEGRAM_API_ROOT: 'http://127.0.0.1:1',
}

/** Owners cannot link chats. */
export const NO_BOT = { TELEGRAM_BOT_TOKEN: '', TELEGRAM_BOT_NAME: '' }

/** An account that everybody may sign in with, as a sandbox has it. */
export const CONSOLE_ACCOUNT = {
  CONSOLE_ACCOUNTS: JSON.stringify([{ name: 'buyer', private_key: numberToHex(0x11, { size: 32 }) }]),
}

/** What `npm start` sets, when the rules' tests run with it (RULES_SETTINGS=sandbox, read by vitest.config.ts). */
const SANDBOX: { CHAIN_OPTIONS: object; CHAIN_SETTINGS: object; SERVICE_SETTINGS: object } | undefined =
  process.env.TEST_MARKET ? JSON.parse(process.env.TEST_MARKET) : undefined

/** Chains whose accounts everybody may use. */
const PLAY_CHAINS = [31_337, 1_337]

/** Of the sandbox: everything is on that can be on. Its limits of requests are left out, which tests would exceed, as is work that a test turns off. */
const SANDBOX_ENV = SANDBOX && {
  ...SILENT_BOT,
  FACILITATOR_URL: 'http://127.0.0.1:8081',
  FAUCET_URL: 'http://127.0.0.1:8085',
  ...SANDBOX.SERVICE_SETTINGS,
}

async function sandboxConsole(): Promise<Overrides> {
  if (!SANDBOX) return {}
  const { buildConsole, openConsole } = await import('@referrer/console')
  return { console: await openConsole(await buildConsole()) }
}

/** For tests that compute with the commission of a purchase that counts in full. */
export const FULL_COMMISSION = { RANK_FULL_COMMISSION: '10000' }

/** For tests of discovery by words alone. */
export const WORDS_ALONE = { EMBEDDER: 'off' }

/** No schedules and followers: what a test writes stays as it is, ranks too. */
export const NO_WORK: Overrides = { work: { schedules: [], followers: [] } }

/** Takes a few seconds, so a test file should call it once. */
export async function startTestMarket({
  chainIds = [31_337],
  confirmations = 1,
  keepsTime = false,
  env = {},
  overrides = {},
}: MarketOptions = {}): Promise<TestMarket> {
  const database = await freshDatabase(migrations)
  const nodes: TestMarket['nodes'] = { isDown: false, only: undefined, answered: [], again: undefined }
  const clock = { aheadMs: 0 }
  let standsAt: number | undefined
  const now = () => (standsAt ?? Date.now()) + clock.aheadMs
  const chains = await Promise.all(
    chainIds.map(async (chainId) => {
      const chain = await startLocalChain({ chainId, port: 0, keepsTime, ...SANDBOX?.CHAIN_OPTIONS })
      return { chain, market: await deployMarket(chain.client) }
    }),
  )
  const [first] = chains
  if (!first) throw new Error('a market needs a chain')
  const service = await startService(
    readConfig({
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      PUBLIC_URL: BASE_URL,
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_BURST: '100000',
      LIMITS: 'memory',
      EMBEDDER: 'off',
      ADMIN_ADDRESSES: first.market.accounts.admin.address,
      PUBLISHER_PRIVATE_KEY: privateKeyOf(first.market.accounts.publisher),
      ORACLE_PRIVATE_KEY: privateKeyOf(first.market.accounts.oracle),
      ATTESTATION_KEYS: JSON.stringify(
        Object.fromEntries(chainIds.map((chainId, at) => [chainId, [ATTESTATION_SEEDS[at]]])),
      ),
      CHAINS: JSON.stringify(
        chains.map(({ chain, market }) => ({
          chainId: chain.chain.id,
          rpcUrls: [chain.rpcUrl],
          contracts: market.addresses,
          startBlock: 0,
          pollIntervalMs: 50,
          ...SANDBOX?.CHAIN_SETTINGS,
          confirmations,
        })),
      ),
      ...SANDBOX_ENV,
      ...(SANDBOX && chainIds.every((id) => PLAY_CHAINS.includes(id)) && CONSOLE_ACCOUNT),
      ...env,
    }),
    {
      ...(await sandboxConsole()),
      clock: now,
      // A busy machine may take more than a second for what takes milliseconds.
      optionalReadMs: 20_000,
      fetch: async (input, init) => {
        const body = String(init?.body)
        const isRefused = [nodes.only ?? []].flat().some((piece) => body.includes(piece))
        if (nodes.isDown || isRefused) throw new TypeError('fetch failed')
        const wasAnswered = (call: string) => nodes.answered.some((made) => made.includes(call))
        if (nodes.again?.calls.some((call) => body.includes(call) && wasAnswered(call)))
          await nodes.again.waitsFor
        const asked = chains.find(({ chain }) => String(input).startsWith(`${chain.rpcUrl}/`))
        const answer = await (asked?.chain.fetch ?? fetch)(input, init)
        nodes.answered.push(body)
        return answer
      },
      ...overrides,
    },
  )
  const { sql } = database

  async function isIndexed(): Promise<boolean> {
    const rows = await sql<{ chain_id: bigint; hash: string }[]>`
      SELECT chain_id, '0x' || encode(block_hash, 'hex') AS hash FROM indexer.checkpoints`
    const heads = await Promise.all(chains.map(({ chain }) => chain.client.getBlock()))
    return heads.every(({ hash }, at) =>
      rows.some((row) => Number(row.chain_id) === chainIds[at] && row.hash === hash),
    )
  }

  return {
    call: callerOf(service.url, now),
    service,
    sql,
    databaseUrl: database.url,
    market: first.market,
    chainId: first.chain.chain.id,
    chains,
    nodes,
    clock,
    async atOnce(work) {
      standsAt = Date.now()
      try {
        return await work()
      } finally {
        standsAt = undefined
      }
    },
    async indexed() {
      await until(isIndexed, 'the newest block in the records')
    },
    async withoutTable(name, work) {
      const hidden = `${name.split('.')[1]}_away`
      await sql.unsafe(`ALTER TABLE ${name} RENAME TO ${hidden}`)
      try {
        return await work()
      } finally {
        await sql.unsafe(`ALTER TABLE ${name.split('.')[0]}.${hidden} RENAME TO ${name.split('.')[1]}`)
      }
    },
    async close() {
      await service.stop()
      await Promise.all(chains.map(({ chain }) => chain.close()))
      await database.drop()
    },
  }
}

/** The product id with this number. */
export const productOf = (number: number): Hex => numberToHex(number, { size: 32 })

export const generic = (rating: number, description: string) => JSON.stringify({ rating, description })

/** A new agent for one test. */
export async function newAgent({ market, indexed }: TestMarket, owner: LocalAccount): Promise<bigint> {
  const agentId = await registerIdentity(market, owner)
  await indexed()
  return agentId
}

/** Publishes a review with an approved proof and registers its text. */
export async function publishReview(
  { market, call, indexed }: TestMarket,
  owner: LocalAccount,
  review: { agentId: bigint; product: Product; content: string; proofId: bigint },
): Promise<{ reviewId: bigint; internalId: number }> {
  const { reviewId } = await publishWithProof(market, owner, review)
  await indexed()
  const body = { review_id: Number(reviewId), escrow_id: 0, content_json: review.content }
  const { review_id: internalId } = await must(call('POST', '/v1/review/register', { as: owner, body }))
  return { reviewId, internalId }
}

export interface Bought {
  product: Product
  reviewId: bigint
  reviewerAgentId: bigint
  /** Left out: bought by a wallet without an agent. */
  buyerAgentId?: bigint
  price?: bigint
  cashbackOfCommissionBps?: number
  commissionMultiplierBps?: number
}

let salt = 0

/** Buys through a review's link, in the way the facilitator settles. */
export async function buy({ market }: Pick<TestMarket, 'market'>, payer: LocalAccount, bought: Bought) {
  const purchase = await signPurchase(market, payer, {
    value: bought.price ?? 1_000_000n,
    salt: numberToHex(++salt, { size: 32 }),
    attribution: {
      merchantId: bought.product.merchantId,
      productId: bought.product.productId,
      reviewId: bought.reviewId,
      reviewerAgentId: bought.reviewerAgentId,
      buyerAgentId: bought.buyerAgentId ?? Attribution.AGENTLESS_BUYER_ID,
      cashbackOfCommissionBps: bought.cashbackOfCommissionBps ?? 0,
      commissionMultiplierBps: bought.commissionMultiplierBps ?? 10_000,
    },
  })
  const [deposit] = escrowDeposits(await settlePurchases(market, [purchase]))
  if (!deposit) throw new Error('the purchase made no escrow')
  return deposit
}
