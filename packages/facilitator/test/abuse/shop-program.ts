// A shop in a process of its own: two endpoints at one price, and records that all such processes share.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@referrer/database'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type PaymentStore,
  type ReferralConfig,
  type Sale,
} from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import type { ShopSettings } from './shops.ts'

const { databaseUrl, merchantId, price, ...settings }: ShopSettings = JSON.parse(process.env.SHOP ?? '')
const sql = connect(databaseUrl, { name: 'shop', max: 5 })

const store: PaymentStore = {
  async read(key) {
    const [row] = await sql<{ record: string }[]>`SELECT record FROM shop.payments WHERE key = ${key}`
    return row?.record
  },
  async replace(key, before, next, untilSeconds) {
    const { count } =
      next === undefined
        ? await sql`DELETE FROM shop.payments WHERE key = ${key} AND record = ${before ?? ''}`
        : before === undefined
          ? await sql`
              INSERT INTO shop.payments (key, record, ends) VALUES (${key}, ${next}, to_timestamp(${untilSeconds}))
              ON CONFLICT DO NOTHING`
          : await sql`
              UPDATE shop.payments SET record = ${next}, ends = to_timestamp(${untilSeconds})
              WHERE key = ${key} AND record = ${before}`
    return count === 1
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
  payments: createPaymentMemory({ store }),
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
