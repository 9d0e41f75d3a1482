// Two replicas of the service over one database: what one has counted, taken or ended holds at the other.
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { chainsJson } from '../../src/doors/http/testing.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import {
  type Answer,
  BASE_URL,
  type Caller,
  callerOf,
  NAMING_US,
  sessionOf,
  signatureHeaders,
  signInMessage,
} from '../http/caller.ts'
import { NO_WORK } from '../http/market.ts'
import { connectTo } from '../mcp/client.ts'
import { type ServiceProcess, startServiceProcess } from '../outage/service-process.ts'

const BURST = 100
let database: TestDatabase
let env: Record<string, string>

beforeAll(async () => {
  database = await freshDatabase(migrations)
  env = {
    DATABASE_URL: database.url,
    PORT: '0',
    LOG_LEVEL: 'silent',
    PUBLIC_URL: BASE_URL,
    EMBEDDER: 'off',
    CHAINS: chainsJson(31_337),
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT_PER_SECOND: '1',
    RATE_LIMIT_BURST: String(BURST),
    // A busy machine is slow, and a store that does not answer in time is another case.
    LIMITS_TIMEOUT_MS: '10000',
  }
})
afterAll(async () => {
  await database.drop()
})

const somebody = () => privateKeyToAccount(generatePrivateKey())
const count = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length

/** Sends a request so many times, to the replicas in turn. */
async function inTurn<T>(replicas: readonly T[], times: number, send: (replica: T) => Promise<Answer>) {
  const answers: Answer[] = []
  for (let sent = 0; sent < times; sent += 1) answers.push(await send(replicas[sent % replicas.length] as T))
  return answers
}

describe('a client that goes from one replica to the other', () => {
  let services: Service[]
  let replicas: Caller[]
  /** A clock that stands still, so that no limit refills by itself. */
  let nowMs = Date.now()

  beforeAll(async () => {
    const start = () =>
      startService(readConfig(env), {
        ...NO_WORK,
        clock: () => nowMs,
        chainHealth: async () => [],
      })
    services = [await start(), await start()]
    replicas = services.map(({ url }) => callerOf(url, () => nowMs))
  })
  afterAll(() => Promise.all(services.map((service) => service.stop())))
  beforeEach(() => {
    nowMs += 3_600_000
  })

  const read = (client: string) => (call: Caller) =>
    call('GET', '/v1/nothing', { headers: { 'x-forwarded-for': client } })

  it('gets the burst of one, and then the rate of one', async () => {
    const answers = await inTurn(replicas, 2 * BURST, read('203.0.113.1'))
    expect(count(answers, 404)).toBe(BURST)
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { error: 'rate limited' } })
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('1')
    nowMs += 3_000
    expect(count(await inTurn(replicas, 10, read('203.0.113.1')), 404)).toBe(3)
  })

  it('gets it once when it sends all at the same time', async () => {
    const send = read('203.0.113.2')
    const together = await Promise.all(
      Array.from({ length: 2 * BURST }, (_, sent) => send(replicas[sent % 2] as Caller)),
    )
    // What one replica has taken ahead is there for the requests that follow.
    const later = await inTurn(replicas, BURST, send)
    expect(count([...together, ...later], 404)).toBe(BURST)
  })

  it('meets the limit of a route once', async () => {
    const answers = await inTurn(replicas, 4, (call) => call('POST', '/v1/checkout', { body: {} }))
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 429, 429])
  })

  it('meets the limit of a tool once', async () => {
    const clients = await Promise.all(services.map(({ url }) => connectTo(`${url}/mcp`)))
    const texts: string[] = []
    for (let sent = 0; sent < 12; sent += 1) {
      const { text } = await (clients[sent % 2] as (typeof clients)[number]).call('discover_products', {
        intent: 'maps',
      })
      texts.push(text)
    }
    expect(texts.map((text) => text.startsWith('rate limited: try again in'))).toEqual(
      texts.map((_, sent) => sent >= 5),
    )
    for (const client of clients) await client.close()
  })

  it('is counted by a store that the metrics show', async () => {
    const { text } = await (replicas[0] as Caller)('GET', '/metrics')
    expect(text).toContain('\nreferrer_limits_store_up 1\n')
  })
})

describe('two processes', () => {
  let processes: ServiceProcess[]
  let replicas: [Caller, Caller]

  beforeAll(async () => {
    // The buckets of a clock that was hours ahead.
    await database.sql`TRUNCATE limits.buckets`
    processes = await Promise.all([startServiceProcess(env), startServiceProcess(env)])
    replicas = processes.map(({ url }) => callerOf(url)) as [Caller, Caller]
  })
  afterAll(() => Promise.all(processes.map((each) => each.stop())))

  const SESSION = '/v1/auth/session'
  const now = () => Math.floor(Date.now() / 1_000)
  const readWith = (token: string) => (call: Caller) =>
    call('GET', '/v1/spending-limits?chain_id=31337', { token })

  it('accept a signed request once together, one after the other and at the same time [AUTH-11]', async () => {
    const signed = async () => ({
      headers: await signatureHeaders(somebody(), NAMING_US, now()),
      body: NAMING_US,
    })
    const first = await signed()
    const one = await inTurn(replicas, 4, (call) => call('POST', SESSION, first))
    expect(one.map(({ status }) => status)).toEqual([200, 401, 401, 401])
    const second = await signed()
    const many = Array.from({ length: 20 }, (_, sent) =>
      (replicas[sent % 2] as Caller)('POST', SESSION, second),
    )
    expect(count(await Promise.all(many), 200)).toBe(1)
  })

  it('accept the nonce of a sign-in at either of them, and once', async () => {
    const [one, other] = replicas
    const account = somebody()
    const message = await signInMessage(one, account.address)
    const body = { message, signature: await account.signMessage({ message }) }
    expect((await other('POST', SESSION, { body })).status).toBe(200)
    expect(await one('POST', SESSION, { body })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('the nonce was used before') },
    })
  })

  it('know the sessions of each other, and none that was closed, although it was just used there', async () => {
    const [one, other] = replicas
    const account = somebody()
    const [token, kept] = [await sessionOf(one, account), await sessionOf(other, account)]
    const before = await Promise.all([one, other, one, other].map(readWith(token)))
    expect(count(before, 401)).toBe(0)
    expect((await other('DELETE', SESSION, { token })).status).toBe(204)
    expect(count(await Promise.all([one, other, one, other].map(readWith(token))), 401)).toBe(4)
    expect((await one('DELETE', '/v1/auth/sessions', { token: await sessionOf(one, account) })).status).toBe(
      204,
    )
    expect((await readWith(kept)(other)).status).toBe(401)
  })

  it('count a client together, by the clock of the database', async () => {
    const startedAt = performance.now()
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    const answers = await inTurn(replicas, 2 * BURST, (call) => call('GET', '/v1/nothing', { headers }))
    const refilled = Math.ceil((performance.now() - startedAt) / 1_000)
    // Tokens that were taken ahead are lost after a second, which only a slow machine needs.
    expect(count(answers, 404)).toBeGreaterThanOrEqual(BURST / 2)
    expect(count(answers, 404)).toBeLessThanOrEqual(BURST + refilled)
  })
})
