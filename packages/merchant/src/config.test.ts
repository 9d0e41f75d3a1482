import { describe, expect, it } from 'vitest'
import { createPaymentMemory, createReferralEndpoint, type ReferralConfig } from './index.ts'

const good: ReferralConfig = {
  chainId: 84532,
  rpcUrl: 'https://node.test',
  addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
  facilitatorUrl: 'https://facilitator.test/',
  setupUrl: 'https://market.test/.well-known/referrer-agent',
  merchantId: 0,
  payments: createPaymentMemory(),
  price: '0.10',
  serve: () => ({}),
}
/** As a caller without a type checker could have it. */
const made = (changes: Record<string, unknown>) => () =>
  createReferralEndpoint({ ...good, ...changes } as ReferralConfig)

describe('createReferralEndpoint', () => {
  it('takes what its type says', () => {
    for (const changes of [
      {},
      { rpcUrl: ['https://one.test', 'http://127.0.0.1:8545'] },
      { merchantId: 7n },
      { price: 1n },
      { price: '9007199254.740991' },
      { product: { id: `0x${'Ab'.repeat(32)}`, description: 'x'.repeat(500) } },
      { signingKey: `0x${'01'.repeat(32)}` },
      { mpp: true },
      { mpp: false },
      { mpp: {} },
      { mpp: { realm: 'shop.test:8080', secretKey: 'x'.repeat(32) } },
    ]) {
      expect(made(changes)).not.toThrow()
    }
  })

  it.each([
    ['chainId', [0, 1.5, '84532', undefined]],
    ['rpcUrl', ['', 'ws://node.test', []]],
    ['addressRegistry', ['0x12', undefined]],
    ['facilitatorUrl', ['facilitator.test', undefined]],
    ['setupUrl', ['', undefined]],
    ['merchantId', [-1, 1.5, -1n, undefined]],
    ['price', [0n, -1n, '0', '9007199254.740992']],
    ['serve', [undefined, {}]],
    ['publicUrl', ['/buy']],
    ['timeoutMs', [0, Number.NaN]],
    ['refreshMs', [-1]],
    ['signingKey', ['0x1234', 'key']],
    ['payments', [undefined]],
  ])('says what %s must be', (name, values) => {
    for (const value of values) {
      expect(made({ [name]: value })).toThrow(new RegExp(`^@referrer/merchant: ${name} must be `))
    }
  })

  it('says what mpp must be, and does not show its secret', () => {
    for (const realm of ['', 'a"b', 'a|b', 'a\nb', 'x'.repeat(201), 7]) {
      expect(made({ mpp: { realm } })).toThrow(/^@referrer\/merchant: mpp.realm must be /)
    }
    for (const secretKey of ['', 'my secret', 7, null]) {
      expect(made({ mpp: { secretKey } })).toThrow(
        /^@referrer\/merchant: mpp.secretKey must be (?!.*my secret)/,
      )
    }
    for (const mpp of ['yes', 1, null]) expect(made({ mpp })).toThrow(/^@referrer\/merchant: mpp must be /)
  })

  it('refuses prices that it would have to round, and product ids that are none', () => {
    for (const price of ['0.0000001', '-1', '1e3', 0.1, undefined]) {
      expect(made({ price })).toThrow('amount must be decimal text with at most 6 decimals')
    }
    expect(made({ product: { id: '0x12' } })).toThrow('product id must be 32-byte hex')
    expect(made({ product: { description: 'x'.repeat(501) } })).toThrow(
      'product.description must be at most 500',
    )
  })

  it('does not show the key that it refuses', () => {
    expect(made({ signingKey: 'my secret' })).not.toThrow(/secret/)
    expect(made({ signingKey: 'my secret' })).toThrow()
  })
})
