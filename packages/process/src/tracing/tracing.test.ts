import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../secret.ts'
import { NO_TRACING, openTracing } from './tracing.ts'
import { createTransactionTraces } from './transactions.ts'

interface Span {
  name: string
  traceId: string
  parentSpanId?: string
  links?: { traceId: string; spanId: string }[]
  status?: { code?: number; message?: string }
}

const sent: { spans: Span[]; authorization: string | undefined }[] = []
const server = createServer(async (request, response) => {
  const body = (await json(request)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
  sent.push({ spans, authorization: request.headers.authorization })
  response.writeHead(200).end('{}')
})
let endpoint: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = (more: { endpoint?: string; ratio?: number } = {}) =>
  openTracing(
    {
      endpoint: more.endpoint ?? endpoint,
      headers: new Secret('authorization=Bearer a=b, x-more=1'),
      serviceName: undefined,
      ratio: more.ratio ?? 1,
    },
    'test',
  )
const parents = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`)

describe('traces', () => {
  it('of a batch are apart from those of its requests and linked with them, with its sending and mining', async () => {
    const tracing = await open()
    const trace = createTransactionTraces(tracing)
    const tell = (type: string) =>
      trace(1, { type, intent: 7n, hash: '0x1', origin: { traceparents: parents } })
    for (const type of ['signed', 'stored', 'broadcast', 'mined', 'confirmed', 'mined']) tell(type)
    await tracing.close()
    const [{ spans, authorization } = { spans: [], authorization: '' }] = sent.splice(0)
    expect(authorization).toBe('Bearer a=b')
    expect(spans.map(({ name }) => name)).toEqual([
      'transaction send',
      'transaction mine',
      'transaction confirm',
      'transaction',
    ])
    const whole = spans.at(-1)
    expect(parents.join()).not.toContain(whole?.traceId)
    expect(whole?.links?.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual(parents)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  })

  it('of a transaction for one request are part of its trace', async () => {
    const tracing = await open()
    const trace = createTransactionTraces(tracing)
    for (const type of ['stored', 'failed'])
      trace(1, { type, intent: 8n, origin: { traceparents: parents.slice(0, 1) } })
    await tracing.close()
    const [whole] = (sent.splice(0)[0]?.spans ?? []).filter(({ name }) => name === 'transaction')
    expect(whole).toMatchObject({
      traceId: '1'.repeat(32),
      parentSpanId: '1'.repeat(16),
      status: { code: 2, message: 'failed' },
    })
  })

  it('are not recorded where the caller or the share decides so, and a traceparent of no sense begins a new one', async () => {
    const tracing = await open({ ratio: 0 })
    tracing.begin('by share')?.end()
    tracing.begin('by caller', { parent: parents[0]?.replace(/01$/, '00') })?.end()
    tracing.begin('wanted', { parent: parents[0] })?.end()
    for (const parent of ['nonsense', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`])
      tracing.begin('by share, too', { parent })?.end()
    await tracing.close()
    expect(sent.splice(0).flatMap(({ spans }) => spans.map(({ name }) => name))).toEqual(['wanted'])
  })

  it('that nobody receives harm nothing: the work is done, and the end is not held up', async () => {
    const tracing = await open({ endpoint: 'http://127.0.0.1:1' })
    const span = tracing.begin('lost')
    expect(await tracing.run('work', {}, async () => 1)).toBe(1)
    span?.end()
    await tracing.close()
  })

  it('are off without an endpoint: the work and the calls are those that were given', async () => {
    expect(await openTracing(undefined, 'test')).toBe(NO_TRACING)
    expect(NO_TRACING.traceFetch(fetch)).toBe(fetch)
    expect(NO_TRACING.observeQuery).toBeUndefined()
    const work = Promise.resolve(2)
    expect(NO_TRACING.run('work', {}, () => work)).toBe(work)
  })
})
