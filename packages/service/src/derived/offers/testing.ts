// A shop server on this machine for tests, which records the requests for prices, and products whose endpoints lead
// to it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Sql } from '@referrer/database'
import { pino } from 'pino'
import type { Chain, Context } from '../../kit/context.ts'
import { writeDescription } from '../../market/merchants/store.ts'
import { planOffers } from './plan.ts'

export const CHAIN_ID = 31_337
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
export const MERCHANT_ID = 7n

export const bytes32 = (number: number): Buffer => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')

export const offerOf = (amount: string) =>
  JSON.stringify({ accepts: [{ scheme: 'exact', network: `eip155:${CHAIN_ID}`, asset: USDC, amount }] })

export interface Shop {
  /** The endpoint of a product. All names ending in `.test` resolve to this machine. */
  url(host: string, path?: string): string
  /** Host and path of each request, in order. */
  asked: string[]
  answer: (request: IncomingMessage, response: ServerResponse) => void
  close(): void
}

export async function openShop(): Promise<Shop> {
  const server = createServer((request, response) => {
    shop.asked.push(`${request.headers.host?.split(':')[0]}${request.url}`)
    shop.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const shop: Shop = {
    url: (host, path = '/buy') => `http://${host}:${port}${path}`,
    asked: [],
    answer: (_request, response) => response.writeHead(402).end(offerOf('1000')),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return shop
}

export function createOffers(sql: Sql) {
  const clock = { now: Date.parse('2026-01-01T12:00:00Z') }
  const chain = { config: { chainId: CHAIN_ID, contracts: { USDC } } } as unknown as Chain
  const context = {
    sql,
    clock: () => clock.now,
    chains: new Map([[CHAIN_ID, chain]]),
    config: { allowPrivateHosts: true } as Context['config'],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    log: pino({ enabled: false }),
  }

  async function describe(number: number, endpointUrl: string, isOpen = true): Promise<void> {
    const key = { chainId: CHAIN_ID, merchantId: MERCHANT_ID, productId: bytes32(number) }
    const about = { endpoint_url: endpointUrl, name: `Product ${number}`, description: '', category: '' }
    await sql.begin(async (tx) => {
      await writeDescription(tx, key, about)
      await tx`
        INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
        VALUES (${CHAIN_ID}, ${MERCHANT_ID}, ${key.productId}, ${isOpen}, 0, '{}', '')
        ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET is_open = excluded.is_open`
      await planOffers(tx, CHAIN_ID, [key])
      // The database has planned the request by its own clock; this sets it to the test's clock.
      await tx`UPDATE market.offers SET ask_at = ${new Date(clock.now)} WHERE asked_at IS NULL AND ask_at < 'infinity'`
    })
  }

  async function offer(number: number) {
    const [row] = await sql<
      { price: bigint | null; failures: number; seen: Date | null; isLeftAlone: boolean; minutes: number }[]
    >`
      SELECT price, failures, seen_at AS seen, ask_at = 'infinity' AS "isLeftAlone",
        CASE WHEN ask_at < 'infinity' THEN floor(extract(epoch FROM ask_at - ${new Date(clock.now)}) / 60)::float8 END AS minutes
      FROM market.offers WHERE chain_id = ${CHAIN_ID} AND merchant_id = ${MERCHANT_ID} AND product_id = ${bytes32(number)}`
    return row
  }

  return {
    context,
    clock,
    /** Describes a product, by default open for sale, or changes its description. */
    describe,
    offer,
    pass(minutes: number): void {
      clock.now += minutes * 60_000
    },
  }
}
