import { Agent } from 'node:http'
import { seedOf } from '@referrer/chain/testing'
import { type Operation, operationsOf } from '@referrer/process/openapi/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import { type Drawn, requests } from './arbitrary.ts'
import { sessionOf, signatureHeaders } from './caller.ts'
import { type Example, exampleOf, pauseOf } from './examples.ts'
import { type RawCaller, rawCallerOf } from './raw.ts'
import { startTradedMarket, type Traded } from './traded.ts'

const seed = seedOf()
const RUNS = 12
const AT_ONCE = 4
/** These routes wait for an unknown identity, in case the node is behind; so only existing ids are used. */
const WAITING = new Set(['POST /v1/agent/register', 'POST /v1/merchant/register'])
/** Routes with the same answer for everybody, which refuse nothing. */
const FIXED = new Set([
  'GET /.well-known/referrer-agent',
  'GET /.well-known/referrer-agent.txt',
  'GET /.well-known/agent-card.json',
  'GET /skill.md',
  'GET /v1/auth/nonce',
])
const names = routes.map(({ method, path }) => `${method} ${path}`)

let m: Traded
let call: RawCaller
let operations: Map<string, Operation>
/** New ones for every route, because some routes end sessions. */
let tokens: Traded['tokens']
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

beforeAll(async () => {
  m = await startTradedMarket([31_337], { WEBHOOK_KEYS: '11'.repeat(32) })
  call = rawCallerOf(m.service.url, agent)
  const { text } = await call({ method: 'GET', path: '/openapi.json' })
  operations = new Map(operationsOf(JSON.parse(text)).map((operation) => [operation.name, operation]))
})
afterAll(async () => {
  agent.destroy()
  await m.close()
})

async function newTokens(): Promise<Traded['tokens']> {
  const { admin, merchant, reviewer } = m.market.accounts
  return {
    admin: await sessionOf(m.call, admin),
    merchant: await sessionOf(m.call, merchant),
    reviewer: await sessionOf(m.call, reviewer),
  }
}

/** Values of the market besides the ids of agents, merchants, reviews and escrows, which are all small. */
const known = () => [
  ...['0', '1', '2', '3'],
  ...[m.reviewerAgentId, m.buyerAgentId, m.shop.merchantId, m.chainId, m.escrowId, m.proofId].map(String),
]
const knownTexts = () => [
  ...known(),
  ...['5', '100', '999999'],
  m.shop.product.productId,
  m.zero.product.productId.slice(2),
  m.market.accounts.reviewer.address,
  ...['2020-01-01T00:00:00Z', '2100-01-01T00:00:00%2B01:00', 'pending', 'approved', 'true', 'books'],
]

async function credentialsOf({ credential, skew, body = '' }: Drawn, { as, token, headers }: Example) {
  const { stranger, reviewer } = m.market.accounts
  const now = Math.floor((Date.now() + m.clock.aheadMs) / 1_000)
  const signed = async (account: typeof stranger, at = now + skew) =>
    Object.entries(await signatureHeaders(account, body, at))
  const bearer = (value: string) => ['authorization', `Bearer ${value}`] as const
  switch (credential) {
    case 'right':
      return [
        ...(as ? await signed(as as typeof stranger) : []),
        ...(token ? [bearer(token)] : []),
        ...Object.entries(headers ?? {}),
      ]
    case 'none':
      return []
    case 'another account':
      return signed(stranger)
    case 'session':
      return [bearer(tokens.reviewer)]
    case 'admin session':
      return [bearer(tokens.admin)]
    case 'garbage signature':
      return [
        ['x-agent-timestamp', String(now)],
        ['x-agent-signature', `0x${'g1'.repeat(65)}`],
      ] as const
    case 'garbage token':
      return [bearer('x'.repeat(43))]
    case 'old timestamp':
      return signed(reviewer, now - 3_600)
    case 'both':
      return [...(await signed(reviewer)), bearer(tokens.merchant)]
  }
}

async function send(name: string, drawn: Drawn, example: Example) {
  m.clock.aheadMs += pauseOf(name)
  const headers = [...(drawn.headers ?? []), ...(await credentialsOf(drawn, example))]
  const answer = await call({ ...drawn, headers })
  // A HEAD request has no body.
  return drawn.method === 'HEAD' ? undefined : answer
}

describe(`requests of every kind (SEED=${seed})`, () => {
  it.each(names)('%s answers nothing but what is documented', async (name) => {
    const operation = operations.get(name)
    if (!operation) throw new Error(`${name} is not in the OpenAPI document`)
    m.clock.aheadMs = 0
    // The examples use them, too.
    tokens = Object.assign(m.tokens, await newTokens())
    const good = await exampleOf(m, name)
    const goodRequest: Drawn = {
      method: operation.method,
      path: good.path,
      ...(good.body && { body: JSON.stringify(good.body) }),
      credential: 'right',
      skew: 0,
    }
    const first = await send(name, goodRequest, good)
    expect(first && operation.violation(first)).toBeUndefined()
    expect(first?.status, first?.text).toBe(operation.success)

    const seen = new Set<number>()
    async function check(request: Drawn): Promise<void> {
      if (WAITING.has(name) && isWaitedFor(request, good)) return
      const answer = await send(name, request, good)
      if (!answer) return
      seen.add(answer.status)
      const asked = `${request.method} ${request.path} ${String(request.body ?? '').slice(0, 200)}`
      expect(operation?.violation(answer), `${asked}: ${answer.text.slice(0, 200)}`).toBeUndefined()
      expect(answer.status, asked).toBeLessThan(500)
    }
    const { each, mixed } = requests(operation, good, WAITING.has(name) ? known() : knownTexts())
    for (let at = 0; at < each.length; at += AT_ONCE) {
      await Promise.all(each.slice(at, at + AT_ONCE).map(check))
    }
    await fc.assert(fc.asyncProperty(mixed, check), { seed, numRuns: RUNS })
    if (!FIXED.has(name)) expect([...seen].some((status) => status >= 400)).toBe(true)
  })

  it('every route is described', () => {
    expect(names).toHaveLength(new Set(names).size)
    expect([...operations.keys()]).toEqual(expect.arrayContaining(names))
  })
})

/** Whether the request names an identity that does not exist: ids ascend, and the example has the newest. */
function isWaitedFor({ body }: Drawn, { body: newest = {} }: Example): boolean {
  try {
    const named: Record<string, unknown> = JSON.parse(Buffer.from(body ?? '').toString())
    return Object.entries(newest).some(([key, id]) => Number(named[key]) > Number(id))
  } catch {
    return false
  }
}
