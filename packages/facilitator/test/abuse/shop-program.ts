// A shop in a process of its own: two endpoints at one price, and claims that all such processes share.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@referrer/database'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type ReferralConfig,
  type Sale,
  type SharedClaims,
} from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import type { ShopSettings } from './shops.ts'

const { databaseUrl, merchantId, price, ...settings }: ShopSettings = JSON.parse(process.env.SHOP ?? '')
const sql = connect(databaseUrl, { name: 'shop', max: 5 })

const sharedClaims: SharedClaims = {
  async claim(key, untilSeconds) {
    const { count } = await sql`
      INSERT INTO shop.claims (key, ends) VALUES (${key}, to_timestamp(${untilSeconds}))
      ON CONFLICT (key) DO UPDATE SET ends = EXCLUDED.ends WHERE claims.ends < now()`
    return count === 1
  },
  async release(key) {
    await sql`DELETE FROM shop.claims WHERE key = ${key}`
  },
}

async function serve(_request: Request, { id, payer, transaction }: Sale): Promise<{ goods: string }> {
  await sql`INSERT INTO shop.served (sale, payer, transaction) VALUES (${id}, ${payer.toLowerCase()}, ${transaction})`
  return { goods: 'a good joke' }
}

const config: ReferralConfig = {
  ...settings,
  merchantId: BigInt(merchantId),
  price: BigInt(price),
  serve,
  payments: createPaymentMemory({ sharedClaims }),
}
const endpoints = new Map(
  ['/jokes', '/stories'].map((path) => [path, nodeHandler(createReferralEndpoint(config))]),
)

const server = createServer((request, response) => {
  const handler = endpoints.get(request.url ?? '')
  if (handler) void handler(request, response)
  else response.writeHead(404).end()
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
