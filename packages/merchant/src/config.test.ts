import { privateKeyToAccount } from 'viem/accounts'
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
      { mpp: true, signingKey: `0x${'01'.repeat(32)}` },
      { mpp: false },
      { mpp: {}, signingKey: `0x${'01'.repeat(32)}` },
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
      const mpp = { realm, secretKey: 'x'.repeat(32) }
      expect(made({ mpp })).toThrow(/^@referrer\/merchant: mpp.realm must be /)
    }
    for (const secretKey of ['', 'my secret', 7, null]) {
      expect(made({ mpp: { secretKey } })).toThrow(
        /^@referrer\/merchant: mpp.secretKey must be (?!.*my secret)/,
      )
    }
    // Two processes that each made a secret would refuse each other's challenges.
    const account = privateKeyToAccount(`0x${'01'.repeat(32)}`)
    for (const signingKey of [undefined, account]) {
      for (const mpp of [true, {}, { realm: 'shop.test' }]) {
        expect(made({ mpp, ...(signingKey && { signingKey }) })).toThrow(
          '@referrer/merchant: mpp.secretKey must be set (at least 32 characters by chance, the same in every process of the shop), or signingKey a private key',
        )
      }
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

  it('says what product.input and product.output must be', () => {
    const input = { schema: { required: ['topic'] } }
    for (const [product, message] of [
      [{ input }, 'product.input.example must be complete: its schema requires "topic"'],
      [
        { input: { ...input, example: 'cats' } },
        'product.input.example must be of the type that its schema names: object',
      ],
      [{ input: { method: 'PUT' } }, "product.input.method must be 'GET' or 'POST'"],
      [{ input: { bodyType: 'json' } }, 'product.input.bodyType must be left out'],
      [
        { input: { method: 'POST', bodyType: 'xml' } },
        'product.input.bodyType must be json, form-data or text',
      ],
      [{ input: 'topic' }, 'product.input must be an object'],
      [{ input: { schema: { $ref: 'https://evil.test' } } }, 'product.input.schema must be without $ref'],
      [{ output: {} }, 'product.output.example must be an answer'],
      [{ output: { example: { n: 1n } } }, 'product.input and product.output must be JSON'],
      [
        {
          output: {
            example: { n: [{ k: 'x' }] },
            schema: { properties: { n: { items: { properties: { k: { type: 'integer' } } } } } },
          },
        },
        'product.output.example must be of the type that its schema names: integer',
      ],
      [
        { output: { example: { text: 'ä'.repeat(2_000) } } },
        'at most 4096 bytes together as the extension "bazaar", not ',
      ],
    ] as const) {
      expect(made({ product })).toThrow(message)
    }
    expect(made({ product: { output: { example: { text: 'x'.repeat(3_500) } } } })).not.toThrow()
  })

  it('says what receipts must be, and shows nothing of a key', () => {
    const key = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), d: 'S'.repeat(43) }
    for (const [receipts, message] of [
      [{ format: 'pgp' }, "receipts.format must be 'eip712' or 'jws'"],
      [{ format: 'eip712', signer: '0xSSSS' }, 'receipts.signer must be a 0x-prefixed 32-byte private key'],
      [{ format: 'eip712' }, 'receipts.signer must be a 0x-prefixed 32-byte private key'],
      [{ format: 'jws', signer: 'SSSS' }, 'receipts.signer must be a private JWK or a signer'],
      [
        { format: 'jws', signer: { ...key, crv: 'X25519' } },
        'receipts.signer must be a private JWK of Ed25519 or P-256',
      ],
      [
        { format: 'jws', signer: { ...key, d: undefined } },
        'receipts.signer must be a private JWK of Ed25519 or P-256',
      ],
      [
        { format: 'jws', signer: { ...key, d: 'SSSS' } },
        'receipts.signer must be a private JWK of Ed25519 or P-256',
      ],
      [{ format: 'jws', signer: key, kid: 'key-1' }, 'receipts.kid must be a DID URL'],
      [{ format: 'jws', signer: key, kid: 'did:web:shop.test' }, 'receipts.kid must be a DID URL'],
      [{ format: 'jws', signer: key, offerSeconds: -1 }, 'receipts.offerSeconds must be whole seconds'],
      [{ format: 'jws', signer: key, timeoutMs: 0 }, 'receipts.timeoutMs must be a positive integer'],
      [
        { format: 'jws', signer: key, includeTransaction: 'no' },
        'receipts.includeTransaction must be true or false',
      ],
    ] as const) {
      expect(made({ receipts })).toThrow(message)
      expect(made({ receipts })).not.toThrow(/SSSS/)
    }
    expect(made({ receipts: { format: 'jws', signer: key } })).not.toThrow()
    const signingKey = `0x${'01'.repeat(32)}`
    expect(made({ receipts: { format: 'eip712' }, signingKey })).not.toThrow()
  })

  it('says what signIn must be', () => {
    const publicUrl = 'https://shop.test/buy'
    for (const [changes, message] of [
      [{ signIn: {} }, 'publicUrl must be set where signIn is'],
      [{ signIn: { statement: 'two\nlines' }, publicUrl }, 'signIn.statement must be one line'],
      [{ signIn: { statement: 'x'.repeat(201) }, publicUrl }, 'signIn.statement must be one line'],
      [
        { signIn: { storage: { find: async () => undefined } }, publicUrl },
        'signIn.storage must be an object',
      ],
      [{ signIn: { resource: '/buy' }, publicUrl }, 'signIn.resource must be a function'],
      [{ signIn: { whenDearer: 'ask' }, publicUrl }, "signIn.whenDearer must be 'pay' or 'serve'"],
    ] as const) {
      expect(made(changes)).toThrow(message)
    }
    expect(made({ signIn: {}, publicUrl })).not.toThrow()
  })

  it('does not show the key that it refuses', () => {
    expect(made({ signingKey: 'my secret' })).not.toThrow(/secret/)
    expect(made({ signingKey: 'my secret' })).toThrow()
  })
})
