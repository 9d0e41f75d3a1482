// The reference that the facilitator serves, held against what it does.
import { lintDocument, type Operation, operationsOf } from '@referrer/process/openapi/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDoor } from '../src/http/app.ts'
import { createMetrics } from '../src/http/metrics.ts'
import { createSettler } from '../src/settlement/settler.ts'
import { type Answer, type Ask, send } from './asking.ts'
import { type Charging, startCharging } from './charging.ts'
import { credentialBody } from './credentials.ts'

let m: Charging
let document: Parameters<typeof operationsOf>[0] & { paths: Record<string, Record<string, object>> }
let operations: Map<string, Operation>
beforeAll(async () => {
  m = await startCharging()
  document = (await m.call('GET', '/openapi.json')).body
  operations = new Map(operationsOf(document).map((operation) => [operation.name, operation]))
})
afterAll(() => m?.close())

describe('the OpenAPI document of the facilitator', () => {
  it('has nothing that other people’s linters find wrong', async () => {
    expect(await lintDocument(document)).toEqual([])
  })

  it('has every route that is served, and no other', async () => {
    const { context } = m.facilitator
    const { app } = createDoor(context, createSettler(context), createMetrics(context))
    try {
      const served: string[] = []
      for (const path of pathsOf(app.printRoutes({ commonPrefix: false }))) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
          const { statusCode } = await app.inject({ method, url: path.replaceAll(':', '') })
          if (statusCode !== 405) served.push(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
        }
      }
      expect(served.sort()).toEqual([...operations.keys()].sort())
    } finally {
      await app.close()
    }
  })

  it('says which routes take a signature, which need one and which are for everybody', async () => {
    const signed = { timestamp: [], signature: [] }
    const required = await m.startAnother({ SETTLEMENT_AUTH: 'required' })
    try {
      const strict = (await send(required.url, 'GET', '/openapi.json')).body
      expect(Object.keys(document.paths)).toEqual(
        expect.arrayContaining(['/settle', '/verify', '/supported']),
      )
      for (const [path, methods] of Object.entries(document.paths)) {
        const takes = path === '/settle' || path === '/verify'
        // A credential may be signed there, or has to be; a transfer is signed by its buyer.
        const isEither = path === '/mpp/charge'
        for (const [method, operation] of Object.entries(methods)) {
          expect(operation, path).toMatchObject({ security: takes || isEither ? [{}, signed] : [] })
          const strictly = isEither ? [{}, signed] : takes ? [signed] : []
          expect(strict.paths[path][method].security, path).toEqual(strictly)
        }
      }
    } finally {
      await required.stop()
    }
  })

  it('tells what every route answers, and everything that it tells happens', async () => {
    const seen = new Map([...operations.keys()].map((name) => [name, new Set<number>()]))
    const check = (name: string, { status, headers, text }: Answer) => {
      const operation = operations.get(name)
      const told = { status, headers: Object.fromEntries(headers), text }
      expect(operation?.violation(told), `${name} ${status} ${text}`).toBeUndefined()
      seen.get(name)?.add(status)
    }
    const { buyer } = m.market.accounts
    const { nonce } = (await m.payload(buyer)).paymentPayload.payload.authorization
    const settlement = `/settlements/${buyer.address}/${nonce}`
    const pathOf = (name: string) =>
      name.replace(/^\w+ /, '').replace('/settlements/{payer}/{nonce}', settlement)
    const askAt = async (url: string, name: string, ask: Ask = {}) =>
      check(name, await send(url, name.split(' ')[0] ?? '', pathOf(name), ask))
    const ask = (name: string, given?: Ask) => askAt(m.facilitator.url, name, given)

    for (const name of operations.keys()) {
      const isPayment = ['POST /settle', 'POST /verify'].includes(name)
      await ask(name, name.startsWith('POST') ? { body: isPayment ? await m.payload(buyer) : {} } : {})
      if (!name.startsWith('POST')) continue
      for (const body of ['{', ' '.repeat(64 * 1_024 + 1)]) await ask(name, { body })
      if (!isPayment) continue
      const body = await m.payload(buyer)
      await ask(name, { body: await m.payload(buyer, { value: 1n }) })
      await ask(name, { body, headers: { 'x-agent-timestamp': '1' } })
      await ask(name, { body, as: buyer })
      expect(operations.get(name)?.takes(body)).toBe(true)
    }
    const transfer = await m.bodyOf(buyer, { txHash: await m.transfer(buyer) })
    expect(operations.get('POST /mpp/charge')?.takes(transfer)).toBe(true)
    await ask('POST /mpp/charge', { body: transfer })
    const credential = await credentialBody(m, buyer)
    expect(operations.get('POST /mpp/charge')?.takes(credential)).toBe(true)
    await ask('POST /mpp/charge', { body: credential, headers: { 'x-agent-timestamp': '1' } })
    await ask('POST /mpp/charge', { body: credential, as: buyer })
    await ask('POST /mpp/charge', { body: credential })
    check('GET /settlements/{payer}/{nonce}', await m.call('GET', '/settlements/me/0x'))

    const limited = await m.startAnother({ RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' })
    try {
      for (const name of operations.keys())
        for (let times = 0; times < 2; times += 1) await askAt(limited.url, name)
    } finally {
      await limited.stop()
    }

    m.nodes.intercept = () => 'refuse'
    await m.sql`ALTER TABLE facilitator.settlements RENAME TO lost`
    try {
      for (const name of ['GET /readyz', 'GET /settlements/{payer}/{nonce}']) await ask(name)
    } finally {
      m.nodes.intercept = undefined
      await m.sql`ALTER TABLE facilitator.lost RENAME TO settlements`
    }

    for (const [name, { statuses }] of operations) {
      // A stop and what fails inside are shown in turned-away.test.ts.
      const stops = name.startsWith('POST') ? [503] : []
      expect([...(seen.get(name) ?? []), ...stops].sort(), name).toEqual(
        statuses.filter((status) => status !== 500),
      )
    }
  })
})

describe('the reference for people', () => {
  it('is served with all that it needs', async () => {
    const page = await m.call('GET', '/docs')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toContain('<title>Referrer facilitator: reference</title>')
    const links = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? '')
    expect(links.length).toBeGreaterThan(4)
    for (const link of links) {
      const { pathname } = new URL(link, `${m.facilitator.url}/docs`)
      expect((await m.call('GET', pathname)).status, link).toBe(200)
    }
  })
})

/** Of all routes but the pages of the reference. */
function pathsOf(printed: string): string[] {
  const parents: string[] = []
  const found: string[] = []
  for (const line of printed.split('\n')) {
    const [, branches = '', segment = '', methods] = /^([│ ]*(?:├|└)── )(\S+)(?: \((.+)\))?$/.exec(line) ?? []
    if (!branches) continue
    parents.length = branches.length / 4 - 1
    const path = `${parents.join('')}${segment}`
    parents.push(segment)
    if (methods && !/^\/docs(\/|$)/.test(path)) found.push(path)
  }
  return found
}
