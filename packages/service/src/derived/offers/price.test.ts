import type { Fetched } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../kit/context.ts'
import { offerIn } from './price.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const chain = { config: { chainId: 8453, contracts: { USDC } } } as unknown as Chain
const option = { scheme: 'exact', network: 'eip155:8453', asset: USDC, amount: '25000' }

const priceIn = (...asked: Parameters<typeof offerIn>) => offerIn(...asked)?.price

const answer = (body: unknown, headers: Fetched['headers'] = {}, status = 402): Fetched => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})
const header = (required: object) => ({ 'payment-required': X402.encodeHeader(required, 'standard') })

describe('the price that an endpoint asks for', () => {
  it('is the amount of its offer, in the body or in the header', () => {
    expect(priceIn(answer({ accepts: [option] }), chain)).toBe(25_000n)
    expect(priceIn(answer('', header({ accepts: [option] })), chain)).toBe(25_000n)
  })

  it('is the one of the body where both have one, as buyers with our signer read it', () => {
    const inHeader = header({ accepts: [{ ...option, amount: '7' }] })
    expect(priceIn(answer({ accepts: [option] }, inHeader), chain)).toBe(25_000n)
    expect(priceIn(answer({}, inHeader), chain), 'official middleware').toBe(7n)
  })

  it('is read from the body where the header has none that can be read', () => {
    for (const value of ['', '%', 'bm8', header({ accepts: [] })['payment-required']]) {
      expect(priceIn(answer({ accepts: [option] }, { 'payment-required': value }), chain), value).toBe(
        25_000n,
      )
    }
  })

  it('may be nothing, and may be as much as an answer can hold', () => {
    expect(priceIn(answer({ accepts: [{ ...option, amount: '0' }] }), chain)).toBe(0n)
    const most = String(Number.MAX_SAFE_INTEGER)
    expect(priceIn(answer({ accepts: [{ ...option, amount: most }] }), chain)).toBe(BigInt(most))
  })

  it('is read as the first version of x402 told it, and whatever the case of the token', () => {
    const { amount, ...rest } = option
    const first = { ...rest, asset: USDC.toLowerCase(), maxAmountRequired: amount }
    expect(priceIn(answer({ accepts: [first] }), chain)).toBe(25_000n)
  })

  it('is that of the first offer in USDC on this chain', () => {
    const others = [
      { ...option, network: 'eip155:1', amount: '1' },
      { ...option, network: 'base', amount: '2' },
      { ...option, asset: `0x${'11'.repeat(20)}`, amount: '3' },
      { ...option, scheme: 'upto', amount: '4' },
      null,
      'exact',
    ]
    const accepts = [...others, option, { ...option, amount: '6' }]
    expect(priceIn(answer({ accepts }), chain)).toBe(25_000n)
    expect(priceIn(answer({ accepts: others }), chain)).toBeUndefined()
  })

  it.each([
    '-1',
    '1.5',
    '1e3',
    '',
    ' 1',
    '0x10',
    '9007199254740992',
    '1'.repeat(40),
    null,
    undefined,
    {},
    [1, 2],
    ['5'],
  ])('is none when the amount is %j', (amount) => {
    expect(priceIn(answer({ accepts: [{ ...option, amount }] }), chain)).toBeUndefined()
  })

  it('is none when the amount is nested without end', () => {
    const endless = '['.repeat(100_000) + ']'.repeat(100_000)
    const body = JSON.stringify({ accepts: [{ ...option, amount: '?' }] }).replace('"?"', endless)
    expect(priceIn(answer(body), chain)).toBeUndefined()
  })

  it('is none in anything but a 402', () => {
    for (const status of [200, 302, 404, 500]) {
      expect(priceIn(answer({ accepts: [option] }, {}, status), chain)).toBeUndefined()
    }
  })

  it.each(['', '<html>', 'null', '[]', '{"accepts":{}}', '{"accepts":[[]]}'])('is none in %j', (body) => {
    expect(priceIn(answer(body), chain)).toBeUndefined()
  })
})
