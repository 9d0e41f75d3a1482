// A marketplace with two products that answer the same wish, and relays on every way of the signer, to kill it wherever it is.

import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from '@referrer/contracts/local'
import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import { until } from '@referrer/service/testing'
import { must } from '../../service/test/http/caller.ts'
import { setCashbackRate } from '../../service/test/http/commitments.ts'
import { sell } from '../../service/test/http/reviews.ts'
import { newcomer, write } from '../../service/test/http/town.ts'
import { type Marketplace, startMarketplace } from './marketplace.ts'
import { type Relay, startRelay } from './runner.ts'
import { newStateDir, startSigner, type TestSigner } from './signer.ts'

/** A message of the signer on its way. */
export interface Message {
  to: 'market' | 'chain' | 'first shop' | 'second shop'
  body: string
  request: IncomingMessage
}

export interface Jobs {
  place: Marketplace
  first: Product
  second: Product
  /** Called with every message of the signers before it is passed on; `false`: it is answered with 503 instead, or with what is returned. */
  before: ((message: Message) => unknown) | undefined
  /** A signer with a state folder of its own, or that of another one. */
  start(env?: Record<string, string>): Promise<TestSigner>
  /** What the buyer has paid since the last call. */
  spent(): Promise<bigint>
  /** The ids of the newest review and the newest escrow on the chain. */
  newest(): Promise<{ review: number; escrow: number }>
  /** How many transactions the buyer has sent. */
  sent(): Promise<number>
  close(): Promise<void>
}

export async function startJobs(): Promise<Jobs> {
  const place = await startMarketplace()
  const { m } = place
  const { client, addresses, accounts } = m.market
  const { origin } = new URL(place.endpoint)
  const targets = {
    market: m.service.url,
    chain: place.env.BASE_RPC_URL ?? '',
    'first shop': origin,
    'second shop': origin,
  }
  const relays = {} as Record<Message['to'], Relay>
  const signers: TestSigner[] = []
  const { merchantId } = place.link.product
  for (const [to, target] of Object.entries(targets) as [Message['to'], string][]) {
    relays[to] = await startRelay(target)
    relays[to].before = (body, request) => jobs.before?.({ to, body, request })
  }
  let balance = 0n
  const jobs: Jobs = {
    place,
    first: { merchantId, productId: '0x' },
    second: { merchantId, productId: '0x' },
    before: undefined,
    async start(env = {}) {
      const signer = await startSigner({
        ...place.env,
        REFERRER_AGENT_MCP_URL: `${relays.market.url}/mcp`,
        BASE_RPC_URL: relays.chain.url,
        MAX_PER_DAY: 'unlimited',
        SIGNER_STATE_DIR: newStateDir(),
        ...env,
      })
      signers.push(signer)
      return signer
    },
    async spent() {
      const before = balance
      balance = await place.balanceOf(accounts.buyer.address)
      return before - balance
    },
    async newest() {
      const [review, escrow] = await Promise.all([
        client.readContract({
          address: addresses.ReviewRegistry,
          abi: reviewRegistryAbi,
          functionName: 'lastReviewId',
        }),
        client.readContract({
          address: addresses.CommissionEscrow,
          abi: commissionEscrowAbi,
          functionName: 'lastEscrowId',
        }),
      ])
      return { review: Number(review), escrow: Number(escrow) }
    },
    sent: () => client.getTransactionCount({ address: accounts.buyer.address }),
    async close() {
      jobs.before = undefined
      for (const signer of signers) {
        await signer.close().catch(() => {})
        await rm(signer.stateDir, { recursive: true, force: true })
      }
      for (const relay of Object.values(relays)) await relay.close()
      await place.close()
    },
  }
  for (const [at, shop] of (['first shop', 'second shop'] as const).entries()) {
    const product = await sell(m, merchantId, 11 + at, `${relays[shop].url}/jokes`)
    const body = { ...TEXTS, merchant_id: Number(merchantId), product_id: product.productId }
    const endpoint_url = `${relays[shop].url}/jokes`
    await must(
      m.call('POST', '/v1/merchant/product', { as: accounts.merchant, body: { ...body, endpoint_url } }),
    )
    for (let count = 0; count < REVIEWS; count += 1) {
      const { owner, agentId } = await newcomer(m)
      await must(setCashbackRate(m, owner, { agentId, bps: 1_000 }))
      await write(m, { owner, agentId }, product)
    }
    jobs[at === 0 ? 'first' : 'second'] = product
  }
  await m.indexed()
  await until(async () => {
    // The tool takes five calls a second.
    await sleep(250)
    const { structured } = await place.mcp.call('discover_products', { intent: WANT, category: 'sky' })
    const products: Found[] = structured?.products ?? []
    return (
      products.length === 2 &&
      products.every(
        ({ price_usdc, reviews }) =>
          price_usdc && reviews?.length === REVIEWS && reviews.every(({ ref_link }) => ref_link !== ''),
      )
    )
  }, 'two products with prices and links')
  await jobs.spent()
  return jobs
}

/** Of each of both products. */
const REVIEWS = 2
export const WANT = 'when does the sun set in Tokyo'
const TEXTS = { name: 'Sunset times', description: 'When the sun sets in a city', category: 'sky' }

interface Found {
  price_usdc?: number
  reviews: { ref_link: string }[] | null
}
