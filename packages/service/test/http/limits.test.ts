import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { callerOf, signatureHeaders } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'
import { rawCallerOf } from './raw.ts'

const BURST = 5
const PER_SECOND = 2

let m: TestMarket
/** The same market behind a proxy on this machine and one in a private network. */
let proxied: Service
/** A clock that stands still, so that no limit refills by itself. */
let nowMs = Date.now()

beforeAll(async () => {
  const clock = () => nowMs
  const limits = {
    RATE_LIMIT_PER_SECOND: String(PER_SECOND),
    RATE_LIMIT_BURST: String(BURST),
    LIMITS: 'postgres',
    // A busy machine is slow, and a store that does not answer in time is another case.
    LIMITS_TIMEOUT_MS: '10000',
  }
  m = await startTestMarket({ env: limits, overrides: { clock } })
  const chain = m.chains[0]
  proxied = await startService(
    readConfig({
      ...limits,
      DATABASE_URL: m.databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'silent',
      TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
      CHAINS: JSON.stringify([
        { chainId: m.chainId, rpcUrls: [chain?.chain.rpcUrl], contracts: m.market.addresses, startBlock: 0 },
      ]),
    }),
    { clock },
  )
})
afterAll(async () => {
  await proxied.stop()
  await m.close()
})
beforeEach(() => {
  nowMs += 3_600_000
})

type Send = () => Promise<{ status: number }>

/** How many of `count` requests passed. */
async function passes(send: Send, count = BURST + 3): Promise<number> {
  let passed = 0
  for (let sent = 0; sent < count; sent += 1) passed += Number((await send()).status !== 429)
  return passed
}

const plain = (headers: Record<string, string> = {}) => m.call('GET', '/v1/stats/mean-rank', { headers })
const throughProxy = (forwarded: string) =>
  callerOf(proxied.url)('GET', '/v1/stats/mean-rank', { headers: { 'x-forwarded-for': forwarded } })

describe('the limit of all routes', () => {
  it('turns a client away after its burst, and says when to come again [LIM-01 otherwise]', async () => {
    expect(await passes(plain)).toBe(BURST)
    const answer = await plain()
    expect(answer).toMatchObject({ status: 429, body: { error: 'rate limited' } })
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('lets it come again after as long as it said [LIM-01 otherwise]', async () => {
    await passes(plain)
    const seconds = Number((await plain()).headers.get('retry-after'))
    nowMs += seconds * 1_000
    expect((await plain()).status).toBe(200)
  })

  it('refills at its rate', async () => {
    await passes(plain)
    nowMs += 1_500
    expect(await passes(plain)).toBe(3)
    nowMs += 60_000
    expect(await passes(plain)).toBe(BURST)
  })

  it('counts the requests to all routes together, known or not, signed or not [LIM-01 otherwise]', async () => {
    const paths = [
      '/v1/review',
      '/v1/nothing',
      '/openapi.json',
      '/v1/spending-limits',
      '/.well-known/referrer-agent',
    ]
    for (const path of paths) expect((await m.call('GET', path)).status).not.toBe(429)
    for (const path of paths) expect((await m.call('GET', path)).status).toBe(429)
    expect((await m.call('POST', '/v1/auth/session')).status).toBe(429)
    expect((await m.call('OPTIONS', '/v1/auth/session')).status).toBe(429)
  })

  it('comes before credentials and bodies: whoever is over it costs nothing', async () => {
    await passes(plain)
    const send = rawCallerOf(m.service.url)
    expect(
      (await send({ method: 'POST', path: '/v1/spending-limits', body: 'x'.repeat(60_000) })).status,
    ).toBe(429)
    const tooLarge = [['content-length', '3000000']] as const
    expect((await send({ method: 'POST', path: '/v1/spending-limits', headers: tooLarge })).status).toBe(429)
  })

  it.each(['/healthz', '/readyz', '/metrics'])(
    'never turns away from %s [LIM-01 otherwise]',
    async (path) => {
      await passes(plain)
      for (let sent = 0; sent < BURST; sent += 1) expect((await m.call('GET', path)).status).not.toBe(429)
      expect((await plain()).status).toBe(429)
    },
  )
})

describe('a client', () => {
  it('cannot pass for another by naming one, where no proxy is trusted', async () => {
    let sent = 0
    const send = () => {
      sent += 1
      const other = `203.0.113.${sent}`
      return plain({
        'x-forwarded-for': other,
        'x-real-ip': other,
        forwarded: `for=${other}`,
        'x-client-ip': other,
      })
    }
    expect(await passes(send)).toBe(BURST)
  })

  it('behind a trusted proxy is the one that the proxy saw', async () => {
    expect(await passes(() => throughProxy('203.0.113.1'))).toBe(BURST)
    expect((await throughProxy('203.0.113.2')).status).toBe(200)
    expect((await throughProxy('203.0.113.1')).status).toBe(429)
  })

  it('behind several trusted proxies is the first that is none of them', async () => {
    expect(await passes(() => throughProxy('203.0.113.3, 10.1.2.3, 127.0.0.1'))).toBe(BURST)
    expect((await throughProxy('203.0.113.3')).status).toBe(429)
  })

  it('does not get away by claiming to stand for others', async () => {
    let sent = 0
    const send = () => {
      sent += 1
      return throughProxy(`198.51.100.${sent}, 203.0.113.4`)
    }
    expect(await passes(send)).toBe(BURST)
  })

  it('does not get away by claiming to be a proxy', async () => {
    let sent = 0
    const send = () => {
      sent += 1
      return throughProxy(`198.51.100.${sent}, 192.168.0.1, 203.0.113.5`)
    }
    expect(await passes(send)).toBe(BURST)
  })

  it('is a whole network of IPv6', async () => {
    let sent = 0
    const send = () => {
      sent += 1
      return throughProxy(`2001:db8:1:2::${sent}`)
    }
    expect(await passes(send)).toBe(BURST)
    expect((await throughProxy('2001:db8:1:3::1')).status).toBe(200)
  })

  it('is the same in IPv4 and in IPv4 that is mapped into IPv6', async () => {
    expect(await passes(() => throughProxy('203.0.113.6'))).toBe(BURST)
    expect((await throughProxy('::ffff:203.0.113.6')).status).toBe(429)
  })

  it('whose proxy passes on nonsense is served, and no nonsense counts as somebody new', async () => {
    const nonsense = [
      'foo:bar',
      ':::',
      'unknown',
      '_hidden',
      '"[2001:db8::1]:47"',
      'x'.repeat(500),
      '1.2.3',
      '%',
    ]
    let sent = 0
    const send = () => {
      sent += 1
      return throughProxy(nonsense[sent % nonsense.length] ?? '')
    }
    expect((await send()).status).toBe(200)
    expect(await passes(send)).toBe(BURST - 1)
  })
})

describe('the size of a body', () => {
  const MOST = 64 * 1024
  const post = (size: number) => {
    const { buyer } = m.market.accounts
    const timestamp = Math.floor(nowMs / 1_000)
    return m.call('POST', '/v1/spending-limits', { as: buyer, body: ' '.repeat(size), timestamp })
  }

  it('may be 64 KiB and not a byte more, where the route does not say otherwise', async () => {
    expect(await post(MOST)).toMatchObject({ status: 400, body: { error: 'invalid body' } })
    nowMs += 3_600_000
    const answer = await post(MOST + 1)
    expect(answer).toMatchObject({ status: 413, body: { error: 'request body too large' } })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('counts against the client as requests do: each 16 KiB as much as one', async () => {
    expect((await post(MOST)).status).toBe(400)
    // With its four times 16 KiB the request has taken the burst of five.
    expect((await plain()).status).toBe(429)
    nowMs += 500
    expect((await plain()).status).toBe(200)
    nowMs += 3_600_000
    expect((await post(100)).status).toBe(400)
    expect((await plain()).status).toBe(200)
  })

  it('counts where it is not announced either', async () => {
    const { buyer } = m.market.accounts
    const chunk = Buffer.alloc(MOST / 2, ' ')
    const body = Buffer.concat([chunk, chunk, Buffer.from(' ')])
    const signed = await signatureHeaders(buyer, body, Math.floor(nowMs / 1_000))
    const response = await fetch(`${m.service.url}/v1/spending-limits`, {
      method: 'POST',
      headers: signed,
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({ error: 'request body too large' })
  })
})
