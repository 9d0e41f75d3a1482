// Whoever is turned away is told so in our words and in those that x402 merchants read.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { SettleError, VerifyError } from '@x402/core/types'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Facilitator, Overrides } from '../src/facilitator.ts'
import { send } from './asking.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'

const SETUP_URL = 'https://market.test/.well-known/referrer-agent'
const NETWORK = 'eip155:31337'

let m: TestFacilitator
let buyer: LocalAccount
beforeAll(async () => {
  m = await startTestFacilitator()
  buyer = await m.newBuyer()
})
afterAll(() => m?.close())

const plain = (errorReason: string, error: string) => ({ error, errorReason, errorMessage: error })

/** What each of the payment routes says beside `error` and `detail`. */
function saidBy(path: string, errorReason: string, errorMessage: string, more: object = {}) {
  if (path === '/verify') {
    const invalid = { isValid: false, invalidReason: errorReason, invalidMessage: errorMessage }
    return { errorReason, errorMessage, ...invalid }
  }
  const failure = { success: false, transaction: '', network: NETWORK, setup_url: SETUP_URL }
  return { errorReason, errorMessage, ...failure, ...more }
}

const PATHS = ['/settle', '/verify', '/mpp/charge']
const retryable = { retryable: true }

describe.each(PATHS)('a request to %s', (path) => {
  it('that is no envelope is told what is wrong with it', async () => {
    const answer = await m.call('POST', path, { body: '{' })
    const error = 'the body is not JSON'
    expect([answer.status, answer.body]).toEqual([400, { error, ...saidBy(path, 'invalid_payment', error) }])
  })

  it('that is too large', async () => {
    const answer = await m.call('POST', path, { body: ' '.repeat(64 * 1024 + 1) })
    const error = 'request body too large'
    expect([answer.status, answer.body]).toEqual([413, { error, ...saidBy(path, 'invalid_payment', error) }])
  })

  it('of a method that it does not have', async () => {
    const answer = await m.call('GET', path)
    expect([answer.status, answer.body]).toEqual([405, plain('method_not_allowed', 'method not allowed')])
  })

  it('too many', async () => {
    const settings = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' }
    const now = Date.now()
    await other(settings, { clock: () => now }, async ({ url }) => {
      const answers = [await send(url, 'POST', path), await send(url, 'POST', path)]
      const error = 'rate limited'
      const said = saidBy(path, 'settle_failed', error, retryable)
      expect([answers[1]?.status, answers[1]?.body]).toEqual([429, { error, ...said }])
    })
  })

  it('at a facilitator that stops', async () => {
    const stopping = await m.startAnother()
    const release = await holdOpen(stopping)
    const stopped = stopping.stop()
    try {
      const answer = await send(stopping.url, 'POST', path, { body: {} })
      const error = 'the facilitator is stopping; send the same request again'
      const said = saidBy(path, 'settle_failed', error, retryable)
      expect([answer.status, answer.body]).toEqual([503, { error, ...said }])
    } finally {
      release()
      await stopped
    }
  })
})

describe.each(['/settle', '/verify'])('a payment that is sent to %s', (path) => {
  const about = () => ({ payer: buyer.address })

  it('with a signature that does not hold', async () => {
    const headers = { 'x-agent-timestamp': '1', 'x-agent-signature': '0x12' }
    const answer = await m.call('POST', path, { body: await m.payload(buyer), headers })
    const said = saidBy(path, 'settle_failed', 'unauthorized: timestamp out of range', retryable)
    const expected = { error: 'unauthorized', detail: 'timestamp out of range', ...said, ...about() }
    expect([answer.status, answer.body]).toEqual([401, expected])
  })

  it('by somebody who may not', async () => {
    const answer = await m.call('POST', path, { body: await m.payload(buyer), as: buyer })
    const error = 'caller may not settle for this merchant'
    const said = saidBy(path, 'settle_failed', error, retryable)
    expect([answer.status, answer.body]).toEqual([403, { error, ...said, ...about() }])
  })

  it('names its own network, also where nobody settles on it', async () => {
    const { paymentRequirements, ...rest } = await m.payload(buyer)
    const body = { ...rest, paymentRequirements: { ...paymentRequirements, network: 'eip155:8453' } }
    const answer = await m.call('POST', path, { body: { ...body, x402Version: 1 } })
    expect(answer.status).toBe(400)
    if (path === '/settle') expect(answer.body.network).toBe('eip155:8453')
  })

  it('and fails inside: nobody says that nothing was sent', async () => {
    await other({}, {}, async ({ url, context }) => {
      context.recovery = {
        ...context.recovery,
        recoverAddress: async () => {
          throw new Error('a secret')
        },
      }
      const answer = await send(url, 'POST', path, { body: await m.payload(buyer) })
      const error = 'internal error'
      const said = saidBy(path, 'settle_failed', error, { pending: true })
      expect([answer.status, answer.body]).toEqual([500, { error, ...said, ...about() }])
    })
  })
})

describe('any other request', () => {
  it.each([
    ['to a path that there is not', 'GET', '/nothing', 404, plain('not_found', 'not found')],
    ['to a path that is none', 'GET', '/%zz', 400, plain('bad_request', 'bad request')],
    ['for a payer that is none', 'GET', '/settlements/me/0x', 400, plain('bad_request', 'invalid payer')],
    ['of a wrong method', 'DELETE', '/supported', 405, plain('method_not_allowed', 'method not allowed')],
  ])('%s', async (_, method, path, status, body) => {
    const answer = await m.call(method, path)
    expect([answer.status, answer.body]).toEqual([status, body])
  })

  it('with too many headers', async () => {
    const answer = await m.call('GET', '/supported', { headers: { 'x-padding': 'x'.repeat(17_000) } })
    const error = 'request headers too large'
    expect([answer.status, answer.body]).toEqual([431, plain('headers_too_large', error)])
  })

  it('that is no HTTP', async () => {
    const { hostname, port } = new URL(m.facilitator.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write('nonsense\r\n\r\n')
    const [, body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(JSON.parse(body)).toEqual(plain('bad_request', 'bad request'))
  })
})

describe('the official client', () => {
  it('reads why it was turned away', async () => {
    const createAuthHeaders = async () => {
      const headers = { 'x-agent-timestamp': '1', 'x-agent-signature': '0x12' }
      return { verify: headers, settle: headers, supported: headers }
    }
    const client = new HTTPFacilitatorClient({ url: m.facilitator.url, createAuthHeaders })
    const { paymentPayload, paymentRequirements } = await m.payload(buyer)
    const asked = [{ x402Version: 2, ...paymentPayload }, paymentRequirements] as unknown as Parameters<
      typeof client.settle
    >
    const settling = await client.settle(...asked).catch((error: unknown) => error)
    expect(settling).toBeInstanceOf(SettleError)
    expect(settling).toMatchObject({
      statusCode: 401,
      errorReason: 'settle_failed',
      errorMessage: 'unauthorized: timestamp out of range',
    })
    const verifying = await client.verify(...asked).catch((error: unknown) => error)
    expect(verifying).toBeInstanceOf(VerifyError)
    expect(verifying).toMatchObject({ statusCode: 401, invalidReason: 'settle_failed' })
  })
})

async function other(
  env: Record<string, string>,
  overrides: Overrides,
  use: (facilitator: Facilitator) => Promise<void>,
) {
  const facilitator = await m.startAnother(env, overrides)
  try {
    await use(facilitator)
  } finally {
    await facilitator.stop()
  }
}

/** Keeps one payment under way, so that a facilitator that stops goes on answering. */
async function holdOpen({ url, context }: Facilitator): Promise<() => void> {
  const gate = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const { recoverAddress } = context.recovery
  context.recovery = {
    ...context.recovery,
    recoverAddress: async (...given) => {
      began.resolve()
      await gate.promise
      return recoverAddress(...given)
    },
  }
  void send(url, 'POST', '/verify', { body: await m.payload(buyer) })
  await began.promise
  return gate.resolve
}
