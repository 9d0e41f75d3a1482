import { AbiCoder, keccak256 as ethersKeccak256, id, TypedDataEncoder } from 'ethers'
import fc from 'fast-check'
import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../test/hostile.ts'
import { dev, SPLIT_ROUTER, USDC } from '../test/keys.ts'
import { terms, vector } from '../test/token.ts'
import * as Attribution from './attribution.ts'
import * as Authorization from './authorization.ts'

const abi = AbiCoder.defaultAbiCoder()
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const bytes32 = uint.map((value) => numberToHex(value, { size: 32 }))
const salt = Attribution.attributionSalt(vector.token, Attribution.idempotencySecret('order-1'))

describe('attribution', () => {
  test('without a buyer agent carries the sentinel, which is not agent 0 [CHAIN-07]', () => {
    expect(Attribution.from(terms, { salt }).buyerAgentId).toBe(2n ** 256n - 1n)
    expect(Attribution.from(terms, { salt, buyerAgentId: undefined }).buyerAgentId).toBe(
      Attribution.AGENTLESS_BUYER_ID,
    )
    expect(Attribution.from(terms, { salt, buyerAgentId: 0 }).buyerAgentId).toBe(0n)
  })

  test('has the salt and nonces on record', () => {
    expect(salt).toBe('0xbd97fdd74ad4253d5afe72d44c5af9a8af4366e9ffa3916c69274aa80b5dff9b')
    expect(Attribution.attributionNonce(Attribution.from(terms, { salt }))).toBe(
      '0x5c5b74ce482875b261be5a99b494ecfc0fd06f6307e790c4fc54a2342af095af',
    )
    expect(Attribution.attributionNonce(Attribution.from(terms, { salt, buyerAgentId: 0 }))).toBe(
      '0x1800943e4ae492b5ee84d0b166561640df0dcea7023929677fe72607098bce84',
    )
  })

  test('commits to every field: the nonce is the struct hash that ethers and plain abi.encode give', () => {
    const typeHash = id(
      'Attribution(uint256 merchantId,bytes32 productId,uint256 reviewId,uint256 reviewerAgentId,uint256 buyerAgentId,uint16 cashbackOfCommissionBps,uint16 commissionMultiplierBps,bytes32 salt)',
    )
    const bps = fc.integer({ min: 0, max: 0xffff })
    const any = fc.record({
      merchantId: uint,
      productId: bytes32,
      reviewId: uint,
      reviewerAgentId: uint,
      buyerAgentId: uint,
      cashbackOfCommissionBps: bps,
      commissionMultiplierBps: bps,
      salt: bytes32,
    })
    fc.assert(
      fc.property(any, (given) => {
        const types = ['bytes32', ...Attribution.TYPES.Attribution.map(({ type }) => type)]
        const nonce = Attribution.attributionNonce(given)
        expect(nonce).toBe(ethersKeccak256(abi.encode(types, [typeHash, ...Object.values(given)])))
        expect(nonce).toBe(
          TypedDataEncoder.hashStruct(
            'Attribution',
            { Attribution: [...Attribution.TYPES.Attribution] },
            given,
          ),
        )
      }),
    )
  })

  test('salts with the token text and the secret, standard encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), bytes32, (token, secret) => {
        expect(Attribution.attributionSalt(token, secret)).toBe(
          ethersKeccak256(abi.encode(['bytes32', 'bytes32'], [id(token), secret])),
        )
      }),
    )
  })

  test('derives the same secret from the same idempotency key, and random ones otherwise', () => {
    expect(Attribution.idempotencySecret('order-1')).toBe(id('order-1'))
    expect(Attribution.idempotencySecret('order-2')).not.toBe(id('order-1'))
    expect(Attribution.randomSecret()).not.toBe(Attribution.randomSecret())
  })

  test('refuses values that the contract type cannot hold', async () => {
    expect(await codeOf(() => Attribution.from(terms, { salt: '0x12' }))).toBe('invalid_attribution')
    expect(await codeOf(() => Attribution.from(terms, { salt, buyerAgentId: -1 }))).toBe(
      'invalid_attribution',
    )
    expect(
      await codeOf(() => Attribution.from({ ...terms, cashbackOfCommissionBps: 65_536 }, { salt })),
    ).toBe('invalid_attribution')
  })
})

describe('authorisation', () => {
  const domain = { name: 'USDC', version: '2', chainId: 84532, verifyingContract: USDC } as const
  const authorization = {
    from: dev.address,
    to: SPLIT_ROUTER,
    value: '10000000',
    validAfter: 0,
    validBefore: 1750000060n,
    nonce: `0x${'55'.repeat(32)}`,
  } as const

  test.each([
    ['TransferWithAuthorization', '0xdd7cdc621cb0fc465538f30172ca347672e7694f9333299eeadf6700da494724'],
    ['ReceiveWithAuthorization', '0x420ddc273f11ff0e1a1ab759f37058411a2739b055ae6f5f90660f3485e4888c'],
  ] as const)('%s has the digest on record, by ethers too', (type, digest) => {
    const { types, message } = Authorization.typedData(type, domain, authorization)
    expect(Authorization.digest(type, domain, authorization)).toBe(digest)
    expect(TypedDataEncoder.hash(domain, { [type]: [...types[type]] }, message)).toBe(digest)
  })

  test('has the type hashes that USDC publishes', () => {
    const fields =
      'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce'
    expect(id(`TransferWithAuthorization(${fields})`)).toBe(
      '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
    )
    expect(id(`ReceiveWithAuthorization(${fields})`)).toBe(
      '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
    )
    for (const type of ['TransferWithAuthorization', 'ReceiveWithAuthorization'] as const) {
      const { types } = Authorization.typedData(type, domain, authorization)
      expect(types[type].map(({ name, type }) => `${type} ${name}`).join(',')).toBe(fields)
    }
  })

  test('is signed by viem and recovers its payer; the other type recovers somebody else', async () => {
    const signature = await dev.signTypedData(
      Authorization.typedData('ReceiveWithAuthorization', domain, authorization),
    )
    expect(await Authorization.recover('ReceiveWithAuthorization', domain, authorization, signature)).toBe(
      dev.address,
    )
    expect(
      await Authorization.recover('TransferWithAuthorization', domain, authorization, signature),
    ).not.toBe(dev.address)
  })

  test('refuses values that EIP-3009 cannot hold', async () => {
    for (const change of [
      { value: -1 },
      { validBefore: 2n ** 256n },
      { nonce: '0x1' as const },
      { to: '0x12' as const },
    ]) {
      expect(await codeOf(() => Authorization.from({ ...authorization, ...change }))).toBe(
        'invalid_authorization',
      )
    }
  })
})
