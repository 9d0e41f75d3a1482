// A shop in a process of its own, which stops at the step that it is told, so that a test can kill it there.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@referrer/database'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type PaymentStore,
  type ReferralConfig,
} from '../src/index.ts'
import { fileStore, nodeHandler } from '../src/node.ts'

/** In the environment variable SHOP. */
export interface ShopSettings {
  config: Omit<ReferralConfig, 'payments' | 'serve' | 'price' | 'merchantId'> & {
    price: string
    merchantId: number
  }
  databaseUrl: string
  /** Left out: the table of the database. */
  file?: string
  /** `before paid`, `after settle` …; left out: at none. */
  stopsAt?: string
}

const { config, databaseUrl, file, stopsAt }: ShopSettings = JSON.parse(process.env.SHOP ?? '')
const sql = connect(databaseUrl, { name: 'shop', max: 5 })

async function reach(step: string): Promise<void> {
  if (step !== stopsAt) return
  console.log(`at ${step}`)
  await new Promise(() => {})
}

const table: PaymentStore = {
  async read(key) {
    const [row] = await sql<{ record: string }[]>`SELECT record FROM payments WHERE key = ${key}`
    return row?.record
  },
  async replace(key, before, next, untilSeconds) {
    const { count } =
      next === undefined
        ? await sql`DELETE FROM payments WHERE key = ${key} AND record = ${before ?? ''}`
        : before === undefined
          ? await sql`
              INSERT INTO payments (key, record, ends) VALUES (${key}, ${next}, to_timestamp(${untilSeconds}))
              ON CONFLICT DO NOTHING`
          : await sql`
              UPDATE payments SET record = ${next}, ends = to_timestamp(${untilSeconds})
              WHERE key = ${key} AND record = ${before}`
    return count === 1
  },
}
const store = file === undefined ? table : fileStore(file)

const endpoint = createReferralEndpoint({
  ...config,
  price: BigInt(config.price),
  payments: createPaymentMemory({
    leaseSeconds: 2,
    store: {
      read: store.read,
      async replace(key, before, next, until) {
        const { state = 'none' } = JSON.parse(next ?? '{}')
        await reach(`before ${state}`)
        const isDone = await store.replace(key, before, next, until)
        await reach(`after ${state}`)
        return isDone
      },
    },
  }),
  async fetch(input, init) {
    const isSettling = String(input).endsWith('/settle')
    if (isSettling) await reach('before settle')
    const response = await fetch(input, init)
    if (isSettling) await reach('after settle')
    return response
  },
  async serve(_request, { id }) {
    await sql`INSERT INTO served (sale) VALUES (${id})`
    await reach('in serve')
    return { goods: 'a joke' }
  },
})

const server = createServer(nodeHandler(endpoint))
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
