import { once } from 'node:events'
import { request } from 'node:http'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { sweepSeenRequests } from '../../src/doors/auth/replays.ts'
import { type Caller, callerOf, NAMING_US, signatureHeaders } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
let second: Service
/** The same market through each of its replicas. */
let replicas: Caller[]

beforeAll(async () => {
  m = await startTestMarket()
  second = await startService(m.service.context.config)
  replicas = [m.call, callerOf(second.url)]
})
afterAll(async () => {
  await second.stop()
  await m.close()
})

const SESSION = '/v1/auth/session'
const now = () => Math.floor(Date.now() / 1_000)
const somebody = () => privateKeyToAccount(generatePrivateKey())

async function sessionsOf({ address }: LocalAccount): Promise<number> {
  const [row] = await m.sql<{ count: bigint }[]>`
    SELECT count(*) FROM market.sessions WHERE address = decode(${address.slice(2)}, 'hex')`
  return Number(row?.count)
}

const passed = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length

describe('the replay guard', () => {
  it('refuses a signed request that was sent before, and does nothing for it [AUTH-11]', async () => {
    const account = somebody()
    const headers = await signatureHeaders(account, NAMING_US, now())
    expect((await m.call('POST', SESSION, { headers, body: NAMING_US })).status).toBe(200)
    expect(await m.call('POST', SESSION, { headers, body: NAMING_US })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', detail: 'replayed request' },
    })
    expect(await sessionsOf(account)).toBe(1)
  })

  it('refuses it with a body too [AUTH-11]', async () => {
    const account = somebody()
    const body = JSON.stringify({ chain_id: m.chainId, daily_cap_usdc: 5 })
    const headers = await signatureHeaders(account, body, now())
    expect((await m.call('POST', '/v1/spending-limits', { headers, body })).status).toBe(200)
    expect((await m.call('POST', '/v1/spending-limits', { headers, body })).status).toBe(401)
  })

  it('refuses it on the other replica [AUTH-11]', async () => {
    const headers = await signatureHeaders(somebody(), NAMING_US, now())
    const answers = []
    for (const call of replicas) answers.push(await call('POST', SESSION, { headers, body: NAMING_US }))
    expect(answers.map(({ status }) => status)).toEqual([200, 401])
  })

  it('refuses it in another spelling: with a query that nobody reads, an escaped path, another v', async () => {
    const account = somebody()
    const headers = await signatureHeaders(account, NAMING_US, now())
    const signature = headers['x-agent-signature'] ?? ''
    const v = signature.endsWith('1b') ? '00' : '01'
    expect((await m.call('POST', SESSION, { headers, body: NAMING_US })).status).toBe(200)
    for (const path of [`${SESSION}?`, `${SESSION}?again=1`, '/v1/auth/sess%69on', '/v1/%61uth/session?x']) {
      expect((await m.call('POST', path, { headers, body: NAMING_US })).status).not.toBe(200)
    }
    const respelled = { ...headers, 'x-agent-signature': `${signature.slice(0, -2)}${v}` }
    expect((await m.call('POST', SESSION, { headers: respelled, body: NAMING_US })).status).toBe(401)
    const upper = { ...headers, 'x-agent-signature': `0x${signature.slice(2).toUpperCase()}` }
    expect((await m.call('POST', SESSION, { headers: upper, body: NAMING_US })).status).toBe(401)
    expect(await sessionsOf(account)).toBe(1)
  })

  it('lets one of fifty copies pass that reach both replicas at once [AUTH-11]', async () => {
    const account = somebody()
    const headers = await signatureHeaders(account, NAMING_US, now())
    const copies = Array.from({ length: 50 }, (_, at) =>
      replicas[at % 2]?.('POST', SESSION, { headers, body: NAMING_US }),
    )
    const answers = (await Promise.all(copies)).filter((answer) => answer !== undefined)
    expect(answers).toHaveLength(50)
    expect(passed(answers)).toBe(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
    expect(await sessionsOf(account)).toBe(1)
  })

  it('lets each of many requests pass once when they reach both replicas in opposite orders', async () => {
    const account = somebody()
    const requests = await Promise.all(
      Array.from({ length: 60 }, (_, at) => signatureHeaders(account, NAMING_US, now() - 30 + at)),
    )
    const [first, other] = replicas as [Caller, Caller]
    const answers = await Promise.all([
      ...requests.map((headers) => first('POST', SESSION, { headers, body: NAMING_US })),
      ...requests.toReversed().map((headers) => other('POST', SESSION, { headers, body: NAMING_US })),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]))
    expect(passed(answers)).toBe(60)
    expect(await sessionsOf(account)).toBe(60)
  })

  it('takes requests for different ones that differ in signer, second or body', async () => {
    const [account, other] = [somebody(), somebody()]
    const at = now()
    const cap = (as: LocalAccount, timestamp: number, daily_cap_usdc: number) =>
      m.call('POST', '/v1/spending-limits', { as, timestamp, body: { chain_id: m.chainId, daily_cap_usdc } })
    const answers = await Promise.all([
      cap(account, at, 1),
      cap(other, at, 1),
      cap(account, at - 1, 1),
      cap(account, at, 2),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('lets a read be repeated [AUTH-40]', async () => {
    const headers = await signatureHeaders(somebody(), '', now())
    const read = () => m.call('GET', '/v1/review-rank/0', { headers })
    expect([(await read()).status, (await read()).status]).toEqual([200, 200])
  })

  it('refuses a copy whose body trickles in until the request is forgotten', async () => {
    const body = JSON.stringify({ chain_id: m.chainId, daily_cap_usdc: 7 })
    const headers = { ...(await signatureHeaders(somebody(), body, now())), expect: '100-continue' }
    const trickle = request(`${m.service.url}/v1/spending-limits`, { method: 'POST', headers })
    trickle.write(body.slice(0, -1))
    await once(trickle, 'continue')
    m.clock.aheadMs = 125_000
    try {
      trickle.end(body.slice(-1))
      const [answer] = await once(trickle, 'response')
      expect(answer.resume().statusCode).toBe(401)
    } finally {
      m.clock.aheadMs = 0
    }
  })

  it('does not forget a request that was refused for what it said', async () => {
    const headers = await signatureHeaders(somebody(), 'nonsense', now())
    const send = () => m.call('POST', '/v1/spending-limits', { headers, body: 'nonsense' })
    expect((await send()).status).toBe(400)
    expect((await send()).status).toBe(401)
  })

  it('lets nothing pass while it cannot remember', async () => {
    const account = somebody()
    const headers = await signatureHeaders(account, NAMING_US, now())
    await m.withoutTable('market.seen_requests', async () => {
      expect(await m.call('POST', SESSION, { headers, body: NAMING_US })).toMatchObject({
        status: 500,
        body: { error: 'internal error' },
      })
    })
    expect(await sessionsOf(account)).toBe(0)
    expect((await m.call('POST', SESSION, { headers, body: NAMING_US })).status).toBe(200)
  })

  it('remembers a request for as long as it could be repeated, and no longer', async () => {
    const timestamp = now() + 55
    await m.sql`DELETE FROM market.seen_requests`
    await m.call('POST', SESSION, { as: somebody(), timestamp, body: NAMING_US })
    const sweep = () => sweepSeenRequests.run({ sql: m.sql, signal: new AbortController().signal })
    const seen = () => m.sql<[{ forget_at: Date }]>`SELECT forget_at FROM market.seen_requests`

    const [{ forget_at }] = await seen()
    // It is valid for a minute after its time, by the clock of each replica.
    expect(forget_at.getTime() / 1_000 - timestamp).toBeGreaterThanOrEqual(115)
    expect(forget_at.getTime() / 1_000 - timestamp).toBeLessThan(122)
    await m.sql`UPDATE market.seen_requests SET forget_at = now() + interval '1 minute'`
    await sweep()
    expect(await seen()).toHaveLength(1)
    await m.sql`UPDATE market.seen_requests SET forget_at = now() - interval '1 second'`
    await sweep()
    expect(await seen()).toHaveLength(0)
  })

  it('forgets more than it deletes at once', async () => {
    await m.sql`
      INSERT INTO market.seen_requests
      SELECT decode(md5(n::text), 'hex'), now() - interval '1 second' FROM generate_series(1, 25000) AS n`
    await sweepSeenRequests.run({ sql: m.sql, signal: new AbortController().signal })
    expect(
      Number((await m.sql`SELECT count(*) FROM market.seen_requests WHERE forget_at < now()`)[0]?.count),
    ).toBe(0)
  })
})
