import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'

let m: TestFacilitator
let buyer: LocalAccount
beforeAll(async () => {
  m = await startTestFacilitator({ relayers: 2 })
  buyer = await m.newBuyer()
})
afterAll(() => m?.close())
afterEach(() => {
  m.nodes.intercept = undefined
})

const SETUP_URL = 'https://market.test/.well-known/referrer-agent'

describe('an envelope that is none', () => {
  test.each([
    ['unparseable [FAC-05]', '{', 'the body is not JSON'],
    ['empty [FAC-05]', '', 'the body is not JSON'],
    ['without an end [FAC-05]', '['.repeat(900), 'the body is not JSON'],
    ['no text [FAC-05]', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'the body is not JSON'],
    ['a list', '[]', 'the body is not a JSON object'],
    ['null', 'null', 'the body is not a JSON object'],
    ['a number', '2', 'the body is not a JSON object'],
    ['without a version [FAC-08]', '{}', 'send a JSON object with x402Version 2'],
    ['of version null [FAC-08]', '{"x402Version":null}', 'send a JSON object with x402Version 2'],
    ['of version 1 [FAC-06]', '{"x402Version":1}', 'send a JSON object with x402Version 2'],
    ['of version 3 [FAC-07]', '{"x402Version":3}', 'send a JSON object with x402Version 2'],
    ['of version "2"', '{"x402Version":"2"}', 'send a JSON object with x402Version 2'],
    ['of an inherited version', '{"__proto__":{"x402Version":2}}', 'send a JSON object with x402Version 2'],
  ])('because it is %s is answered with 400', async (_, body, error) => {
    for (const path of ['/settle', '/verify']) {
      const answer = await m.call('POST', path, { body })
      expect([answer.status, answer.body]).toMatchObject([400, { error, errorMessage: error }])
    }
  })

  test.each([
    ['no version [FAC-08, VER-02]', undefined],
    ['version 1 [FAC-06, VER-02]', 1],
    ['version 3 [FAC-07, VER-02]', 3],
  ])('around a good payment, with %s, is answered with 400', async (_, x402Version) => {
    const body = { ...(await m.payload(buyer)), x402Version }
    for (const path of ['/settle', '/verify']) {
      expect((await m.call('POST', path, { body })).status).toBe(400)
    }
    expect((await m.settle({ ...body, x402Version: 2 })).body.success).toBe(true)
  })
})

describe('a refusal', () => {
  test('tells who, where, why and what to read [FAC-10, FAC-11]', async () => {
    const body = await m.payload(buyer, { value: 1n })
    const message = 'authorization.value 1 is not the amount: authorise exactly 1000000'
    expect((await m.settle(body)).body).toEqual({
      success: false,
      errorReason: 'invalid_payment',
      errorMessage: message,
      transaction: '',
      network: 'eip155:31337',
      payer: buyer.address,
      setup_url: SETUP_URL,
    })
    expect((await m.verify(body)).body).toEqual({
      isValid: false,
      invalidReason: 'invalid_payment',
      invalidMessage: message,
      payer: buyer.address,
    })
  })

  test('names the network that was asked for, and the default one where none was', async () => {
    const network = async (requirements: object) =>
      (await m.settle({ x402Version: 2, paymentRequirements: requirements })).body.network
    expect(await network({ network: 'eip155:8453' })).toBe('eip155:8453')
    for (const nonsense of [{}, { network: 'base' }, { network: 7 }]) {
      expect(await network(nonsense)).toBe('eip155:31337')
    }
  })

  test('says so when the same payment can be sent again [FAC-38]', async () => {
    const body = await m.payload(buyer)
    m.nodes.intercept = () => 'refuse'
    const failed = await m.settle(body)
    expect(failed.status).toBe(200)
    expect(failed.body).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    m.nodes.intercept = undefined
    expect((await m.settle(body)).body.success).toBe(true)
  })
})

describe('the door', () => {
  test('reads JSON whatever its sender calls it', async () => {
    const body = JSON.stringify(await m.payload(buyer))
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const answer = await m.verify(body, { headers: { 'content-type': type } })
      expect(answer.body).toEqual({ isValid: true, payer: buyer.address })
    }
    expect(
      (await raw(`POST /verify`, body)).endsWith(JSON.stringify({ isValid: true, payer: buyer.address })),
    ).toBe(true)
  })

  test('knows its paths and their methods', async () => {
    const wrong = await m.call('GET', '/settle')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await m.call('HEAD', '/settle')).status).toBe(405)
    expect((await m.call('HEAD', '/supported')).status).toBe(200)
    expect((await m.call('DELETE', '/supported')).headers.get('allow')).toBe('GET, HEAD')
    expect((await m.call('GET', '/nothing')).status).toBe(404)
  })

  test('tells nothing of what went wrong inside', async () => {
    const broken = await m.startAnother({}, { recovery: undefined as never })
    broken.context.recovery = {
      ...broken.context.recovery,
      recoverAddress: async () => {
        throw new Error('a secret')
      },
    }
    try {
      const payment = JSON.stringify(await m.payload(buyer))
      const answer = await fetch(`${broken.url}/settle`, { method: 'POST', body: payment })
      const body = await answer.text()
      expect([answer.status, body.includes('internal error')]).toEqual([500, true])
      expect(body).not.toContain('secret')
    } finally {
      await broken.stop()
    }
  })

  test('settles although the caller hangs up', async () => {
    const body = await m.payload(buyer)
    const { from, nonce } = body.paymentPayload.payload.authorization
    await raw('POST /settle', JSON.stringify(body), 'hang up')
    const status = async () => (await m.call('GET', `/settlements/${from}/${nonce}`)).body.status
    await eventually(status).toBe('settled')
  })
})

describe('whoever runs it', () => {
  test('learns that it lives and is ready', async () => {
    expect((await m.call('GET', '/healthz')).body).toEqual({ status: 'ok' })
    const ready = await m.call('GET', '/readyz')
    expect([ready.status, ready.body]).toEqual([
      200,
      {
        status: 'ready',
        checks: {
          database: { ok: true, detail: 'answers' },
          'chain 31337': { ok: true, detail: '2 of 2 relayers can settle' },
        },
      },
    ])
  })

  test('learns when the nodes are silent', async () => {
    m.nodes.intercept = () => 'refuse'
    const ready = await m.call('GET', '/readyz')
    expect([ready.status, ready.body.status]).toEqual([503, 'not ready'])
    expect(ready.body.checks['chain 31337']).toEqual({ ok: false, detail: 'does not answer' })
    expect(ready.body.checks.database.ok).toBe(true)
  })

  test('may watch it on a port of its own, which hides the metrics from the public one', async () => {
    const other = await m.startAnother({ METRICS_PORT: '0' })
    try {
      const statuses = [`${other.metricsUrl}/metrics`, `${other.metricsUrl}/readyz`, `${other.url}/healthz`]
      for (const target of statuses) expect([target, (await fetch(target)).status]).toEqual([target, 200])
      for (const target of [`${other.url}/metrics`, `${other.metricsUrl}/supported`])
        expect([target, (await fetch(target)).status]).toEqual([target, 404])
      const document = await (await fetch(`${other.url}/openapi.json`)).text()
      expect(document.includes('/healthz') && !document.includes('"/metrics"')).toBe(true)
      const port = new URL(other.metricsUrl ?? '').port
      await expect(m.startAnother({ METRICS_PORT: port })).rejects.toThrow(
        `METRICS_PORT: port ${port} is in use; stop what listens there, or choose another`,
      )
    } finally {
      await other.stop()
    }
  })

  test('sees what is settled, refused and left for gas', async () => {
    const figure = async (line: string) => {
      const { text } = await m.call('GET', '/metrics')
      return Number(
        text
          .split('\n')
          .find((each) => each.startsWith(`${line} `))
          ?.split(' ')
          .at(-1) ?? 0,
      )
    }
    const settled = 'referrer_settlements_total{chain="31337",outcome="settled"}'
    const refused = 'referrer_payment_answers_total{route="/settle",told="invalid_payment"}'
    const [settledBefore, refusedBefore] = [await figure(settled), await figure(refused)]
    await m.settle(await m.payload(buyer))
    await m.settle(await m.payload(buyer, { value: 1n }))
    expect([await figure(settled), await figure(refused)]).toEqual([settledBefore + 1, refusedBefore + 1])
    const [relayer] = m.relayers
    const account = `{chain="31337",account="${relayer.address}",role="relayer"}`
    await eventually(() => figure(`referrer_account_balance_wei${account}`)).toBeGreaterThan(1e18)
    expect(await figure(`referrer_account_reserve_wei${account}`)).toBeGreaterThan(0)
    expect(await figure(`referrer_relayer_is_settler{chain="31337",relayer="${relayer.address}"}`)).toBe(1)
    expect(await figure('referrer_chain_up{chain="31337"}')).toBe(1)
    const final = 'referrer_settlement_confirmation_seconds_count{chain="31337",outcome="settled"}'
    await eventually(() => figure(final)).toBeGreaterThan(0)
    expect(await figure('referrer_migrations_applied{set="facilitator"}')).toBe(1)
    expect(await figure('referrer_giveaway_base_units{chain="31337"}')).toBe(30_000_000)
    expect(await figure('referrer_given_away_base_units{chain="31337",kind="gifts"}')).toBe(0)
    expect(await figure('referrer_database_pool_max')).toBe(20)
    const node = `{chain="31337",endpoint="${new URL(m.node.url).host}"`
    expect(await figure(`referrer_rpc_calls_total${node},outcome="answered"}`)).toBeGreaterThan(0)
    // It rests for a moment after the test in which it was silent.
    await eventually(() => figure(`referrer_rpc_endpoint_usable${node}}`)).toBe(1)
    expect(await figure('referrer_settlement_batch_size_count{chain="31337"}')).toBeGreaterThan(0)
    expect(await figure('referrer_payments_in_progress{route="/settle"}')).toBe(0)
    expect(await figure('referrer_database_up')).toBe(1)
  })
})

/** A request by hand, without any headers but those that it must have. */
async function raw(line: string, body: string, then?: 'hang up'): Promise<string> {
  const before = m.events.length
  const { hostname, port } = new URL(m.facilitator.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = `${line} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.write(`${head}\r\n\r\n${body}`)
  if (then !== 'hang up') return text(socket)
  const isSending = () => m.events.slice(before).some(({ type }) => type === 'sending')
  await eventually(isSending).toBe(true)
  socket.destroy()
  return ''
}
