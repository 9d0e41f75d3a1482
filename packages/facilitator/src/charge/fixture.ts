// A market on a real chain with a shop that tells its price, and a settler that sends what it is told to, one by one.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRpcPool } from '@referrer/chain'
import {
  confirmed,
  deployMarket,
  type LocalChain,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
  startLocalChain,
} from '@referrer/contracts/local'
import { AttestationKey, Attribution, AttributionToken, Commitment, Recovery, X402 } from '@referrer/protocol'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import pino from 'pino'
import { type Address, type Hash, type Hex, keccak256, type LocalAccount, stringToBytes } from 'viem'
import type { Chain, Context } from '../context.ts'
import { Refused } from '../payment/refused.ts'
import { toRefundDeposit, toSplitDeposit } from '../settlement/order.ts'
import type { Deposit, Settlement, Settler } from '../settlement/types.ts'

export const PRICE = 5_000_000n
export const CONFIRMATIONS = 3

export interface Shop {
  /** What it answers; undefined: it hangs up. */
  answer: { status: number; body: unknown } | undefined
  /** The headers of the last question. */
  asked: Record<string, unknown>
}

export interface Fixture {
  local: LocalChain
  market: Market
  context: Context
  chain: Chain
  product: Product
  reviewerAgentId: bigint
  buyerAgentId: bigint
  token: string
  terms: AttributionToken.Terms
  shop: Shop
  /** The offer that a good shop makes. */
  offer(fields?: object, extra?: object): Shop['answer']
  mint(terms: Partial<AttributionToken.Terms>, seed?: number): Promise<string>
  transfer(from: LocalAccount, value: bigint, to?: Address): Promise<Hash>
  /** Buries what has happened. */
  bury(): Promise<void>
  sign(signer: LocalAccount, signed: Partial<Signed> & { txHash: Hash }): Promise<Hex>
  balance(account: Address): Promise<bigint>
  close(): Promise<void>
}

interface Signed {
  txHash: Hash
  token: string
  buyerAgentId: bigint
  payer: Address
}

const CONTENT = '{"rating":4,"description":"good"}'

export async function startFixture(): Promise<Fixture> {
  const local = await startLocalChain({ port: 0 })
  const { client } = local
  const market = await deployMarket(client)
  const { addresses, accounts } = market
  const { merchant, reviewer, buyer, walletBuyer } = accounts
  const product = { merchantId: await openMerchant(market, merchant), productId: keccak256('0x01') }
  await listProduct(market, merchant, product)
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const buyerAgentId = await registerIdentity(market, buyer)
  const written = { agentId: reviewerAgentId, product, content: CONTENT, proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, written)
  for (const { address } of [buyer, walletBuyer, reviewer]) await mintUsdc(market, address, 1_000_000_000n)

  const shop: Shop = { answer: undefined, asked: {} }
  const server = createServer((request, response) => {
    shop.asked = request.headers
    if (!shop.answer) request.socket.destroy()
    else response.writeHead(shop.answer.status).end(JSON.stringify(shop.answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const keyOf = (seed: number) => AttestationKey.signingKey(new Uint8Array(32).fill(seed))
  const terms: AttributionToken.Terms = {
    chainId: local.chain.id,
    splitRouter: addresses.SplitRouter,
    merchantEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`,
    merchantId: Number(product.merchantId),
    productId: product.productId,
    reviewId: Number(reviewId),
    reviewerAgentId: Number(reviewerAgentId),
    cashbackOfCommissionBps: 1_000,
    commissionMultiplierBps: 7_000,
    issuedAt: 1_750_000_000,
  }
  const mint = async (other: Partial<AttributionToken.Terms>, seed = 7) =>
    AttributionToken.mint({ ...terms, ...other }, await keyOf(seed))
  const token = await mint({})

  const chain: Chain = {
    chainId: local.chain.id,
    network: X402.Network.from(local.chain.id),
    rpc: createRpcPool({ chainId: local.chain.id, urls: [String(local.rpcUrl)] }),
    contracts: addresses,
    token: { name: 'USDC', version: '2' },
    ring: await AttestationKey.keyRing((await keyOf(7)).attestationPubKey),
    relayers: [accounts.settler],
    confirmations: CONFIRMATIONS,
    maxFeePerGas: 10n ** 11n,
  }
  const context = {
    config: { allowPrivateHosts: true, marketUrl: undefined, attestationPublicKeys: new Map() },
    chains: new Map([[chain.chainId, chain]]),
    clock: Date.now,
    log: pino({ level: 'silent' }),
    fetch,
    lookup: async () => [],
    recovery: await Recovery.load(),
  } as unknown as Context

  const usdc = { address: addresses.USDC, abi: sandboxUSDCAbi } as const
  const offered = {
    scheme: 'exact',
    network: chain.network,
    asset: addresses.USDC,
    amount: String(PRICE),
    payTo: addresses.SplitRouter,
    maxTimeoutSeconds: 60,
  }
  return {
    local,
    market,
    context,
    chain,
    product,
    reviewerAgentId,
    buyerAgentId,
    token,
    terms,
    shop,
    mint,
    offer: (fields = {}, extra = {}) => ({
      status: 402,
      body: { x402Version: 2, accepts: [{ ...offered, extra: { ...chain.token, ...extra }, ...fields }] },
    }),
    async transfer(account, value, to = addresses.SplitRouter) {
      const call = { ...usdc, account, functionName: 'transfer', args: [to, value] } as const
      const hash = await client.writeContract(call)
      await confirmed(market, hash)
      return hash
    },
    bury: () => client.mine({ blocks: CONFIRMATIONS }),
    sign(signer, { txHash, token: text = token, buyerAgentId: buyer, payer = signer.address }) {
      const commitment = Commitment.from('ChargeCommitment', {
        chainId: chain.chainId,
        splitRouter: addresses.SplitRouter,
        message: {
          txHash,
          tokenHash: keccak256(stringToBytes(text)),
          buyerAgentId: buyer ?? Attribution.AGENTLESS_BUYER_ID,
          payer,
        },
      })
      return signer.signTypedData(commitment as Parameters<typeof signer.signTypedData>[0])
    },
    balance: (account) => client.readContract({ ...usdc, functionName: 'balanceOf', args: [account] }),
    async close() {
      server.close()
      server.closeAllConnections()
      await local.close()
    },
  }
}

export interface TestSettler extends Settler {
  deposits: Deposit[]
  known: Settlement
}

/** Sends each deposit, or its refund, in a transaction of its own. */
export function testSettler({ market, chain }: Fixture): TestSettler {
  const never = () => Promise.reject(new Error('a charge has no use for it'))
  const settler: TestSettler = {
    deposits: [],
    known: { status: 'unknown', transaction: null, message: null },
    settle: never,
    check: never,
    run: never,
    find: async () => settler.known,
    async splitDeposit(deposit, { refund } = {}) {
      settler.deposits.push(deposit)
      const { data } = refund === undefined ? toSplitDeposit(deposit) : toRefundDeposit(deposit, refund)
      const call = { account: market.accounts.settler, to: chain.contracts.SplitRouter, data, chain: null }
      const hash = await market.client.sendTransaction(call).catch((cause: unknown) => {
        throw new Refused('settle_failed', 'it reverted', { cause })
      })
      await confirmed(market, hash)
      return { transaction: hash, payer: deposit.charge.payer }
    },
  }
  return settler
}

export const router = ({ chain }: Fixture) =>
  ({ address: chain.contracts.SplitRouter, abi: splitRouterAbi }) as const
