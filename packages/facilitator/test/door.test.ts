import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'

let m: TestFacilitator
let buyer: LocalAccount
beforeAll(async () => {
  m = await startTestFacilitator({ relayers: 2 })
  buyer = await m.newBuyer()
})
afterAll(() => m.close())
afterEach(() => {
  m.nodes.intercept = undefined
})

const SETUP_URL = 'https://market.test/.well-known/referrer-agent'

describe('an envelope that is none', () => {
  test.each([
    ['{', 'the body is not JSON'],
    ['', 'the body is not JSON'],
    ['['.repeat(60_000), 'the body is not JSON'],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'the body is not JSON'],
    ['[]', 'the body is not a JSON object'],
    ['null', 'the body is not a JSON object'],
    ['2', 'the body is not a JSON object'],
    ['{}', 'send a JSON object with x402Version 2'],
    ['{"x402Version":1}', 'send a JSON object with x402Version 2'],
    ['{"__proto__":{"x402Version":2}}', 'send a JSON object with x402Version 2'],
  ])('is answered with 400 (%#)', async (body, error) => {
    for (const path of ['/settle', '/verify']) {
      const answer = await m.call('POST', path, { body })
      expect([answer.status, answer.body]).toEqual([400, { error }])
    }
  })

  test('is answered with 413 above 64 KiB', async () => {
    const answer = await m.settle(`{"x402Version":2,"padding":"${' '.repeat(65_536)}"}`)
    expect([answer.status, answer.body]).toEqual([413, { error: 'request body too large' }])
  })
})

describe('a refusal', () => {
  test('tells who, where, why and what to read', async () => {
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

  test('says so when the same payment can be sent again', async () => {
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
    expect([wrong.status, wrong.headers.get('allow'), wrong.body]).toEqual([
      405,
      'POST',
      { error: 'method not allowed' },
    ])
    expect((await m.call('HEAD', '/settle')).status).toBe(405)
    expect((await m.call('HEAD', '/supported')).status).toBe(200)
    expect((await m.call('DELETE', '/supported')).headers.get('allow')).toBe('GET, HEAD')
    const unknown = await m.call('GET', '/nothing')
    expect([unknown.status, unknown.body]).toEqual([404, { error: 'not found' }])
  })

  test('limits each client, but not those who watch over it', async () => {
    const limited = await m.startAnother({ RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' })
    try {
      const ask = (path: string) => fetch(`${limited.url}${path}`)
      expect((await ask('/supported')).status).toBe(200)
      expect((await ask('/supported')).status).toBe(200)
      const refused = await ask('/supported')
      expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
        429,
        '1',
        { error: 'rate limited' },
      ])
      for (const path of ['/healthz', '/readyz', '/metrics']) expect((await ask(path)).status).toBe(200)
    } finally {
      await limited.stop()
    }
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
      const body = JSON.stringify(await m.payload(buyer))
      const answer = await fetch(`${broken.url}/settle`, { method: 'POST', body })
      expect([answer.status, await answer.json()]).toEqual([500, { error: 'internal error' }])
    } finally {
      await broken.stop()
    }
  })

  test('settles although the caller hangs up', async () => {
    const body = await m.payload(buyer)
    const { from, nonce } = body.paymentPayload.payload.authorization
    await raw('POST /settle', JSON.stringify(body), 'hang up')
    await expect
      .poll(async () => (await m.call('GET', `/settlements/${from}/${nonce}`)).body.status, {
        timeout: 20_000,
      })
      .toBe('settled')
  })
})

describe('a settlement', () => {
  test('can be asked about, however its payer and nonce are spelled', async () => {
    const body = await m.payload(buyer)
    const { nonce } = body.paymentPayload.payload.authorization
    const unknown = await m.call('GET', `/settlements/${buyer.address}/${nonce}`)
    const about = { payer: buyer.address, nonce, network: 'eip155:31337' }
    expect(unknown.body).toEqual({ status: 'unknown', transaction: null, message: null, ...about })
    const { transaction } = (await m.settle(body)).body
    const upper = `0x${nonce.slice(2).toUpperCase()}`
    for (const path of [
      `${buyer.address}/${nonce}`,
      `${buyer.address.toLowerCase()}/${upper}`,
      `0x${buyer.address.slice(2).toUpperCase()}/${nonce}?chain_id=31337`,
    ]) {
      const { status, body: settled } = await m.call('GET', `/settlements/${path}`)
      expect([status, settled]).toEqual([200, { status: 'settled', transaction, message: null, ...about }])
    }
  })

  test('cannot be told while the database is silent, and nothing is made up', async () => {
    await m.sql`ALTER TABLE facilitator.settlements RENAME TO settlements_away`
    try {
      const answer = await m.call('GET', `/settlements/${buyer.address}/0x${'11'.repeat(32)}`)
      expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([
        503,
        '1',
        { error: 'the records cannot be read now; ask again' },
      ])
    } finally {
      await m.sql`ALTER TABLE facilitator.settlements_away RENAME TO settlements`
    }
  })

  test.each([
    ['0x12/NONCE', 'invalid payer'],
    ['PAYER/0x12', 'invalid nonce'],
    ['PAYER/NONCE?chain_id=x', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=1&chain_id=2', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=1', 'chain_id not configured'],
  ])('of %s is refused', async (path, error) => {
    const spelled = path.replace('PAYER', buyer.address).replace('NONCE', `0x${'11'.repeat(32)}`)
    const answer = await m.call('GET', `/settlements/${spelled}`)
    expect([answer.status, answer.body]).toEqual([400, { error }])
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
    const about = `{chain="31337",relayer="${relayer.address}"}`
    expect(await figure(`referrer_relayer_balance_ether${about}`)).toBeGreaterThan(1)
    expect(await figure(`referrer_relayer_is_settler${about}`)).toBe(1)
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
  await expect.poll(isSending, { interval: 1, timeout: 20_000 }).toBe(true)
  socket.destroy()
  return ''
}
