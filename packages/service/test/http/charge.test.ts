import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from './market.ts'
import { CHARGED, type StandIn, startStandIn } from './stand-in.ts'

const ANSWER_TIMEOUT_MS = 200
const SILENT = {
  status: 504,
  body: { error: 'the facilitator did not answer; ask again with the same body: a transfer is charged once' },
}

let m: TestMarket
let facilitator: StandIn
let usual: StandIn['answer']

beforeAll(async () => {
  facilitator = await startStandIn()
  usual = facilitator.answer
  const env = { FACILITATOR_URL: facilitator.url, ANSWER_TIMEOUT_MS: String(ANSWER_TIMEOUT_MS) }
  m = await startTestMarket({ env })
})
afterAll(async () => {
  await m.close()
  await facilitator.close()
})
beforeEach(() => {
  // Keeps the route's rate limit from answering.
  m.clock.aheadMs += 10_000
  facilitator.asked = []
  facilitator.answer = usual
})

const good = {
  txHash: `0x${'12'.repeat(32)}`,
  attributionToken: 'eyJ2Ijo0',
  buyerAgentId: '7',
  chainId: 31_337,
  buyerSignature: `0x${'ab'.repeat(65)}`,
}
const charge = (body: unknown) => m.call('POST', '/mpp/charge', { body })
const answering =
  (status: number, body: string, headers = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

describe('POST /mpp/charge', () => {
  it('passes a request without credentials on to the facilitator, and its answer back', async () => {
    const { status, headers, text } = await charge(good)
    expect({ status, text }).toEqual({ status: 200, text: JSON.stringify(CHARGED) })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(facilitator.asked).toEqual([{ method: 'POST', path: '/mpp/charge', body: good }])
  })

  it.each([undefined, null, ''])('takes buyerAgentId %j for none', async (buyerAgentId) => {
    expect((await charge({ ...good, buyerAgentId })).status).toBe(200)
    expect(facilitator.asked).toEqual([
      { method: 'POST', path: '/mpp/charge', body: { ...good, buyerAgentId } },
    ])
  })

  it('refuses a body without a signature of the buyer, or with what is none [REF-07]', async () => {
    for (const buyerSignature of [undefined, null, '', '0x', '0xabc', 'ab', 7, `0x${'ab'.repeat(4_097)}`]) {
      m.clock.aheadMs += 1_000
      expect(await charge({ ...good, buyerSignature })).toMatchObject({
        status: 400,
        body: { error: 'invalid request' },
      })
    }
    expect(facilitator.asked).toEqual([])
  })

  it('refuses a body that says something else than it should', async () => {
    const wrong = {
      txHash: [undefined, '0x12', 7],
      attributionToken: [undefined, '', 'a b', 'a'.repeat(4_097), 7],
      buyerAgentId: [7, '-1', '0x1', 'abc'],
      chainId: [undefined, 0, '31337', 1.5],
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        m.clock.aheadMs += 1_000
        const { status, body } = await charge({ ...good, [field]: value })
        expect({ field, value, status, body }).toMatchObject({
          status: 400,
          body: { error: 'invalid request' },
        })
      }
    }
    for (const body of ['', '{', 'null', '[]']) {
      m.clock.aheadMs += 1_000
      expect(await charge(body)).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    }
    expect(facilitator.asked).toEqual([])
  })

  it.each([
    [
      200,
      '{"success":false,"errorReason":"invalid_payment","errorMessage":"no","transaction":"","network":"x"}',
    ],
    [
      200,
      '{"success":false,"errorReason":"settle_failed","errorMessage":"no","transaction":"","network":"x","pending":true,"until":1700000000,"take_back":{"to":"0x12","data":"0x34","not_before":1700003600}}',
    ],
    [400, '{"error":"no JSON object"}'],
    [503, '{"error":"the facilitator is stopping; send the same request again"}'],
  ])('passes a refusal with status %s on', async (status, text) => {
    facilitator.answer = answering(status, text)
    expect(await charge(good)).toMatchObject({ status, text })
  })

  it('passes on of a refusal what its own reference tells', async () => {
    const refusal = { error: 'no', errorReason: 'invalid_payment', errorMessage: 'no', success: false }
    facilitator.answer = answering(400, JSON.stringify(refusal))
    expect(await charge(good)).toMatchObject({ status: 400, text: '{"error":"no"}' })
  })

  it('passes on how long to wait', async () => {
    facilitator.answer = answering(429, '{"error":"rate limited"}', { 'retry-after': '3' })
    const { status, headers } = await charge(good)
    expect({ status, seconds: headers.get('retry-after') }).toEqual({ status: 429, seconds: '3' })
  })

  it('waits for the facilitator longer than for anything else', async () => {
    facilitator.answer = (response) => setTimeout(() => usual(response), 3 * ANSWER_TIMEOUT_MS)
    expect((await charge(good)).status).toBe(200)
  })

  const useless: [string, StandIn['answer']][] = [
    ['hangs up', (response) => response.destroy()],
    ['hangs up in the middle', (response) => response.write('{"succ', () => response.destroy())],
    ['fails', answering(500, '{"error":"internal error"}')],
    ['is not one', answering(404, '{"error":"not found"}')],
    ['is somewhere else', answering(307, '{}', { location: '/' })],
    ['speaks no JSON', answering(200, '<html>')],
    ['says too much', answering(200, JSON.stringify('x'.repeat(64 * 1024)))],
  ]
  it.each(useless)('does not know what became of it when the facilitator %s', async (_what, answer) => {
    facilitator.answer = answer
    expect(await charge(good)).toMatchObject(SILENT)
  })

  it('does not know either when there is nobody', async () => {
    const { fetch } = m.service.context
    m.service.context.fetch = () => Promise.reject(new TypeError('fetch failed'))
    try {
      expect(await charge(good)).toMatchObject(SILENT)
    } finally {
      m.service.context.fetch = fetch
    }
  })

  it('is not there without a facilitator', async () => {
    const { config } = m.service.context
    m.service.context.config = { ...config, facilitatorUrl: undefined }
    try {
      expect(await charge(good)).toMatchObject({ status: 404, body: { error: 'not found' } })
    } finally {
      m.service.context.config = config
    }
  })
})
