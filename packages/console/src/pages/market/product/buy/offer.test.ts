import { encodePaymentRequiredHeader } from '@x402/core/http'
import { domainSeparator } from 'viem'
import { describe, expect, it } from 'vitest'
import type { RefLink } from '../questions.ts'
import { checkOffer, type Market, missingText, readOffer } from './offer.ts'

const router = '0xDBB281Ac8E40F73cC23bC44AcEb3a00eBEe1D677'
const usdc = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const domain = { name: 'USDC', version: '2', chainId: 31337, verifyingContract: usdc } as const
const market: Market = { router, usdc, escrow: other, domain: domainSeparator({ domain }) }
const target = { chain_id: 31337, token: 'the-token', split_router: router } as RefLink
const accepted = {
  scheme: 'exact',
  network: 'eip155:31337',
  asset: usdc,
  amount: '10000',
  payTo: router,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
} as const
const required = (change: object = {}, extensions: object = { attributionToken: 'the-token' }) =>
  ({
    x402Version: 2,
    resource: { url: 'https://shop.example' },
    accepts: [{ ...accepted, ...change }],
    extensions,
  }) as never
const answered = (status: number, payment_required: string | null) => ({
  status,
  content_type: null,
  body: '',
  is_base64: false,
  payment_required,
  payment_response: null,
})

describe('the offer of a shop', () => {
  it('is read from the header, or from the body', () => {
    expect(readOffer(answered(402, encodePaymentRequiredHeader(required())))).toEqual(required())
    expect(readOffer(answered(402, JSON.stringify(required())))).toEqual(required())
  })

  it('is refused with what to do when it is none', () => {
    expect(() => readOffer(answered(405, null))).toThrow('The shop answered 405')
    expect(() => readOffer(answered(402, null))).toThrow('The shop answered 402')
    expect(() => readOffer(answered(402, '{"x402Version":1,"accepts":[{}]}'))).toThrow('cannot be read')
    expect(() => readOffer(answered(402, '{"x402Version":2,"accepts":[]}'))).toThrow('cannot be read')
    expect(() => readOffer(answered(402, '%%%'))).toThrow('cannot be read')
  })

  it('is accepted as the market says: payee, token, chain, link', () => {
    expect(checkOffer(required(), market, target).amount).toBe(10_000n)
    // A shop that does not know ref links names none.
    expect(checkOffer(required({}, {}), market, target).amount).toBe(10_000n)
    // The shops' libraries name the usual permission, or none.
    const usual = { extra: { ...accepted.extra, assetTransferMethod: 'eip3009' } }
    expect(checkOffer(required(usual), market, target).amount).toBe(10_000n)
    expect(checkOffer(required({ payTo: router.toLowerCase() }), market, target).amount).toBe(10_000n)
  })

  it.each([
    ['would not go to the market’s split contract', { payTo: other }],
    ['would not go to the market’s split contract', { payTo: 'me' }],
    ['another token than USDC', { asset: other }],
    ['on eip155:1', { network: 'eip155:1' }],
    ['the scheme upto', { scheme: 'upto' }],
    ['not an amount', { amount: '0' }],
    ['not an amount', { amount: '-5' }],
    ['not an amount', { amount: '1e6' }],
    ['names the token wrongly', { extra: { name: 'USD Coin', version: '2' } }],
    ['names the token wrongly', { extra: undefined }],
    ['another kind of permission', { extra: { ...accepted.extra, assetTransferMethod: 'permit2' } }],
    ['valid for too long', { maxTimeoutSeconds: 315_360_000 }],
    ['valid for too long', { maxTimeoutSeconds: '60' }],
    ['valid for too long', { maxTimeoutSeconds: undefined }],
  ])('is refused: %s', (why, change) => {
    expect(() => checkOffer(required(change), market, target)).toThrow(why)
  })

  it('is refused for another link', () => {
    expect(() => checkOffer(required({}, { attributionToken: 'other' }), market, target)).toThrow(
      'another link',
    )
  })

  it('says how much is missing in the wallet', () => {
    expect(missingText(10_000n, 2_500n)).toBe('Your wallet has 0.0025 USDC: 0.0075 USDC are missing')
  })
})
