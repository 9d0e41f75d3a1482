// Kills a shop with -9 between any two steps of a sale; the buyer asks a new process for what it paid for.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ShopSettings } from './shop-program.ts'
import { alreadyUsed, configOf, pay, settledBy, startWorld, type World } from './world.ts'

let world: World
let database: TestDatabase
beforeAll(async () => {
  world = await startWorld()
  database = await freshDatabase()
  await database.sql`CREATE TABLE payments (key text PRIMARY KEY, record text NOT NULL, ends timestamptz NOT NULL)`
  await database.sql`CREATE TABLE served (sale text NOT NULL)`
})
afterAll(async () => {
  await database?.drop()
  await world?.close()
})
beforeEach(async () => {
  await database.sql`DELETE FROM served`
})

async function startShop(settings: Pick<ShopSettings, 'file' | 'stopsAt'>) {
  const { payments: _, serve: _serve, ...config } = configOf(world)
  const env: ShopSettings = {
    ...settings,
    databaseUrl: database.url,
    config: {
      ...config,
      price: String(config.price),
      merchantId: Number(config.merchantId),
      // The transactions of this test are on the chain.
      checkOnChain: true,
    },
  }
  const child = spawn(process.execPath, [await bundled(new URL('shop-program.ts', import.meta.url))], {
    env: { ...process.env, SHOP: JSON.stringify(env) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const dead = once(child, 'close')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  return {
    url: await line(),
    line,
    async kill() {
      child.kill('SIGKILL')
      await dead
    },
  }
}

const STEPS = [
  'before claimed',
  'after claimed',
  'before settle',
  'after settle',
  'before paid',
  'after paid',
  'in serve',
  'before served',
]

describe.each(['file', 'table'])('with a %s', (kind) => {
  it.each(STEPS)('a shop that is killed %s serves after its restart what was paid', async (stopsAt) => {
    const file = kind === 'file' && { file: join(mkdtempSync(join(tmpdir(), 'payments-')), 'payments.log') }
    const payment = await pay(world)
    let transaction: string | undefined
    world.facilitator.says(async (asked) => {
      if (transaction) return alreadyUsed(transaction)
      transaction = await payment.settleOnChain()
      return settledBy(transaction)(asked)
    })
    const ask = (url: string) => fetch(url, { headers: { 'PAYMENT-SIGNATURE': payment.header } })

    const first = await startShop({ ...file, stopsAt })
    const lost = ask(first.url).catch(() => 'lost')
    expect(await first.line()).toBe(`at ${stopsAt}`)
    await first.kill()
    expect(await lost).toBe('lost')

    const next = await startShop(file || {})
    let answer: Response
    do answer = await ask(next.url)
    while (answer.status === 409 && answer.headers.has('retry-after'))
    expect([answer.status, await answer.json()]).toEqual([200, { goods: 'a joke', transaction }])
    const served = await database.sql<{ sale: string }[]>`SELECT sale FROM served`
    expect(served).toHaveLength(stopsAt === 'in serve' || stopsAt === 'before served' ? 2 : 1)
    expect(new Set(served.map(({ sale }) => sale)).size).toBe(1)
    expect((await ask(next.url)).status).toBe(409)
    await next.kill()
  })
})
