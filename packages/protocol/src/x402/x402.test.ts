import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import type * as Official from '@x402/core/types'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileJson, hostileText } from '../../test/hostile.ts'
import { dev, PRODUCT_ID, SPLIT_ROUTER, USDC } from '../../test/keys.ts'
import { vector } from '../../test/token.ts'
import * as X402 from './index.ts'

const requirements: X402.PaymentRequirements.PaymentRequirements = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: USDC,
  amount: '10000000',
  payTo: SPLIT_ROUTER,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2', authorizationType: 'ReceiveWithAuthorization', productId: PRODUCT_ID },
}
const extensions = {
  attributionToken: vector.token,
  buyerAgentId: '7',
  setup_url: 'https://referrer.example/.well-known/referrer-agent',
}
const required: X402.PaymentRequired.PaymentRequired = {
  x402Version: 2,
  resource: { url: 'https://shop.example/api/buy', description: 'Käse 🧀', mimeType: 'application/json' },
  accepts: [requirements],
  extensions,
}
const payload: X402.PaymentPayload.PaymentPayload = {
  x402Version: 2,
  resource: required.resource,
  accepted: requirements,
  payload: {
    signature: `0x${'ab'.repeat(65)}`,
    authorization: {
      from: dev.address,
      to: SPLIT_ROUTER,
      value: '10000000',
      validAfter: '0',
      validBefore: '1750000060',
      nonce: `0x${'55'.repeat(32)}`,
    },
  },
  extensions,
}
const success: X402.SettleResponse.SettleSuccess = {
  success: true,
  transaction: `0x${'77'.repeat(32)}`,
  network: 'eip155:84532',
  payer: dev.address,
}
const failure: X402.SettleResponse.SettleFailure = {
  success: false,
  errorReason: 'self_referral',
  errorMessage: 'buyer and reviewer share an owner',
  transaction: '',
  network: 'eip155:84532',
  setup_url: extensions.setup_url,
  retryable: true,
  pending: true,
}
const supported: X402.SupportedResponse.SupportedResponse = {
  kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532', extra: { name: 'USDC' } }],
  extensions: ['attributionToken'],
  signers: { 'eip155:*': [dev.address] },
}

describe('official x402 codecs', () => {
  test('read our headers', () => {
    expect(decodePaymentRequiredHeader(X402.PaymentRequired.serialize(required))).toEqual(required)
    for (const response of [success, failure]) {
      expect(decodePaymentResponseHeader(X402.SettleResponse.serialize(response))).toEqual(response)
    }
    const padded = Buffer.from(X402.PaymentPayload.serialize(payload), 'base64url').toString('base64')
    expect(decodePaymentSignatureHeader(padded)).toEqual(payload)
  })

  test('write headers that we read', () => {
    expect(X402.PaymentRequired.deserialize(encodePaymentRequiredHeader(required))).toEqual(required)
    expect(X402.PaymentPayload.deserialize(encodePaymentSignatureHeader(payload))).toEqual(payload)
    for (const response of [success, failure]) {
      expect(X402.SettleResponse.deserialize(encodePaymentResponseHeader(response))).toEqual(response)
    }
  })

  test('have types that ours fit into', () => {
    expectTypeOf<X402.PaymentRequirements.PaymentRequirements>().toExtend<Official.PaymentRequirements>()
    expectTypeOf<X402.PaymentRequired.PaymentRequired>().toExtend<Official.PaymentRequired>()
    expectTypeOf<X402.PaymentPayload.PaymentPayload>().toExtend<Official.PaymentPayload>()
    expectTypeOf<X402.SettleRequest.SettleRequest>().toExtend<Official.SettleRequest>()
    expectTypeOf<X402.SettleResponse.SettleResponse>().toExtend<Official.SettleResponse>()
    expectTypeOf<X402.VerifyResponse.VerifyResponse>().toExtend<Official.VerifyResponse>()
    expectTypeOf<X402.SupportedResponse.SupportedResponse>().toExtend<Official.SupportedResponse>()
    expectTypeOf<X402.Network.Network>().toExtend<Official.Network>()
  })
})

describe('headers', () => {
  test('PAYMENT-SIGNATURE is unpadded base64url of JSON', () => {
    const header = X402.PaymentPayload.serialize(payload)
    expect(header).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual(payload)
  })

  test('PAYMENT-SIGNATURE is read in every base64 variant', () => {
    const unpadded = X402.PaymentPayload.serialize(payload)
    const standard = Buffer.from(unpadded, 'base64url').toString('base64')
    const paddedUrl = standard.replaceAll('+', '-').replaceAll('/', '_')
    for (const header of [unpadded, standard, standard.replaceAll('=', ''), paddedUrl]) {
      expect(X402.PaymentPayload.deserialize(header)).toEqual(payload)
    }
  })

  test('above 16 KiB are refused', async () => {
    expect(await codeOf(() => X402.PaymentPayload.deserialize('A'.repeat(16_385)))).toBe('too_large')
  })

  test('that hold no UTF-8 or no JSON are refused', async () => {
    const latin1 = Buffer.from(JSON.stringify({ ...required, error: 'Käse' }), 'latin1').toString('base64')
    expect(await codeOf(() => X402.PaymentRequired.deserialize(latin1))).toBe('invalid_json')
    expect(await codeOf(() => X402.PaymentPayload.deserialize(btoa('{')))).toBe('invalid_json')
  })

  test('with very deep JSON are answered, not crashed on', async () => {
    const deep = btoa(`{"x402Version":2,"extensions":${'['.repeat(5000)}${']'.repeat(5000)}}`)
    expect(await codeOf(() => X402.PaymentPayload.deserialize(deep))).toBe('invalid_payment')
  })
})

describe('payment requirements', () => {
  const code = (change: object) =>
    codeOf(() => X402.PaymentRequirements.parse({ ...requirements, ...change }))

  test('need the token domain name and version', async () => {
    expect(await code({ extra: { version: '2' } })).toBe('invalid_payment')
    expect(await code({ extra: { name: 'USDC' } })).toBe('invalid_payment')
    expect(await code({ extra: undefined })).toBe('invalid_payment')
  })

  test('take the amount only as decimal base units', async () => {
    for (const amount of [10_000_000, '10.0', '0x10', '-1', '', '01', '9007199254740992']) {
      expect(await code({ amount }), String(amount)).toBe('invalid_payment')
    }
  })

  test('take only the exact scheme on an EVM chain', async () => {
    expect(await code({ scheme: 'upto' })).toBe('invalid_payment')
    for (const network of [
      'base-sepolia',
      'eip155:',
      'eip155:0',
      'eip155:01',
      'eip155:1x',
      'solana:1',
      84532,
    ]) {
      expect(await code({ network }), String(network)).toBe('invalid_network')
    }
    expect(X402.Network.parse(X402.Network.from(84532))).toBe(84532)
  })

  test('keep extra keys of other tooling, refuse unknown authorisation types and bad product ids', async () => {
    const extra = { ...requirements.extra, assetTransferMethod: 'eip3009' }
    expect(X402.PaymentRequirements.parse({ ...requirements, extra }).extra).toEqual(extra)
    expect(await code({ extra: { ...extra, authorizationType: 'Permit' } })).toBe('invalid_payment')
    expect(await code({ extra: { ...extra, productId: '0x12' } })).toBe('invalid_product_id')
  })
})

describe('payment required', () => {
  test('reads only the first offer', () => {
    const given = { ...required, accepts: [requirements, { scheme: 'upto', network: 'solana:1' }] }
    expect(X402.PaymentRequired.parse(given)).toEqual(required)
  })

  test('is read from a plain 402 body that names no resource', () => {
    const { resource: _, ...body } = required
    expect(X402.PaymentRequired.parse(body)).toEqual(body)
  })

  test('is refused in another version, or without an offer', async () => {
    for (const change of [{ x402Version: 1 }, { x402Version: '2' }, { accepts: [] }, { accepts: {} }]) {
      expect(await codeOf(() => X402.PaymentRequired.parse({ ...required, ...change }))).toBe(
        'invalid_payment',
      )
    }
  })
})

describe('payment required of a response', () => {
  const inHeader = { ...required, accepts: [{ ...requirements, amount: '7' }] }
  const header = X402.PaymentRequired.serialize(inHeader as X402.PaymentRequired.PaymentRequired)
  const read = (from: string | null, body: unknown) =>
    X402.PaymentRequired.fromResponse({ header: from, body })

  test('is the body where it makes an offer, whatever the header says', () => {
    const loose = { accepts: [{ payTo: SPLIT_ROUTER }] }
    for (const body of [required, loose]) {
      for (const from of [header, null, '%']) expect(read(from, body)).toBe(body)
    }
  })

  test('is the header where the body makes none, as official middleware answers', () => {
    const official = encodePaymentRequiredHeader(inHeader as Official.PaymentRequired)
    for (const body of [
      {},
      undefined,
      null,
      'x',
      [],
      { accepts: [] },
      { accepts: 'x' },
      { x402Version: 2 },
    ]) {
      expect(read(official, body)).toEqual(inHeader)
      expect(X402.PaymentRequired.parse(read(header, body))).toEqual(inHeader)
    }
  })

  test('is the header beside a body for clients of version 1', () => {
    const older = { x402Version: 1, accepts: [{ maxAmountRequired: '5' }] }
    expect(read(header, older)).toEqual(inHeader)
    expect(read(null, older)).toBe(older)
  })

  test('is the body as it came where neither makes an offer', () => {
    const body = { payTo: SPLIT_ROUTER }
    const empty = X402.encodeHeader({ ...required, accepts: [] }, 'standard')
    for (const from of [null, '', '%', 'A'.repeat(16_385), btoa('7'), btoa('null'), empty]) {
      expect(read(from, body)).toBe(body)
      expect(read(from, undefined)).toBeUndefined()
    }
  })

  test('is never more than what came, however hostile', async () => {
    await expectOnlyProtocolErrors(hostileText(header), (from) => read(from as string, {}))
    await expectOnlyProtocolErrors(hostileJson(required), (body) => read(null, body))
  })
})

describe('extensions', () => {
  const buyer = (value: unknown) => codeOf(() => X402.Extensions.buyerAgentId({ buyerAgentId: value }))

  test('absent, null and empty buyerAgentId mean agent-less', async () => {
    expect(X402.Extensions.buyerAgentId({})).toBeUndefined()
    for (const value of [undefined, null, '']) expect(await buyer(value)).toEqual({ returned: undefined })
  })

  test('a decimal string names the agent, "0" included', async () => {
    expect(await buyer('0')).toEqual({ returned: 0 })
    expect(await buyer('42')).toEqual({ returned: 42 })
  })

  test('a JSON number is refused, and so is text that is not decimal', async () => {
    for (const value of [0, 7, true, {}]) expect(await buyer(value)).toBe('invalid_payment')
    for (const value of ['abc', '0x7', '-1', '1.0', '07', ' 7', (2n ** 256n - 1n).toString()]) {
      expect(await buyer(value)).toBe('invalid_id')
    }
    expect(await codeOf(() => X402.Extensions.parse({ ...extensions, buyerAgentId: 7 }))).toBe(
      'invalid_payment',
    )
  })

  test('hold a salt of 32 bytes, or none', async () => {
    const salt = `0x${'Ab'.repeat(32)}`
    const read = (value: unknown) => codeOf(() => X402.Extensions.attributionSalt({ attributionSalt: value }))
    for (const value of [undefined, null]) expect(await read(value)).toEqual({ returned: undefined })
    expect(await read(salt)).toEqual({ returned: salt.toLowerCase() })
    for (const value of ['', '0x12', 7, salt.slice(2)]) expect(await read(value)).toBe('invalid_payment')
    expect(await codeOf(() => X402.Extensions.parse({ ...extensions, attributionSalt: '0x' }))).toBe(
      'invalid_payment',
    )
  })

  test('need an attribution token, and keep what others put there', async () => {
    expect(await codeOf(() => X402.Extensions.parse({ buyerAgentId: '7' }))).toBe('invalid_payment')
    expect(X402.Extensions.parse({ ...extensions, bazaar: { info: 1 } })).toEqual({
      ...extensions,
      bazaar: { info: 1 },
    })
  })
})

describe('payment payload', () => {
  const { accepted: _accepted, x402Version: _version, ...plain } = payload

  test('may leave out what the envelope of its settlement tells too', () => {
    expect(X402.PaymentPayload.parse(plain)).toEqual({ x402Version: 2, ...plain })
  })

  test('may tell of the offer only what was agreed on', () => {
    const { maxTimeoutSeconds: _timeout, extra: _extra, ...accepted } = requirements
    expect(X402.PaymentPayload.parse({ ...payload, accepted })).toEqual({ ...payload, accepted })
  })

  test('is refused in another version, and with an offer that is none', async () => {
    for (const change of [
      { x402Version: 1 },
      { x402Version: '2' },
      { x402Version: null },
      { accepted: {} },
    ]) {
      expect(await codeOf(() => X402.PaymentPayload.parse({ ...payload, ...change }))).toBe('invalid_payment')
    }
  })
})

describe('settlement', () => {
  const request = { x402Version: 2, paymentPayload: payload, paymentRequirements: requirements }

  test('request is read as sent', () => {
    expect(X402.SettleRequest.parse(structuredClone(request))).toEqual(request)
  })

  test('request of another version is a bad envelope, a bad payment in it is not', async () => {
    for (const value of [{ ...request, x402Version: 1 }, { ...request, x402Version: 3 }, {}, null, [], 'x']) {
      expect(await codeOf(() => X402.SettleRequest.parse(value))).toBe('invalid_envelope')
    }
    expect(await codeOf(() => X402.SettleRequest.parse({ ...request, paymentPayload: {} }))).toBe(
      'invalid_payment',
    )
  })

  test('success needs a transaction hash and a payer', async () => {
    expect(X402.SettleResponse.parse(success)).toEqual(success)
    expect(await codeOf(() => X402.SettleResponse.parse({ ...success, transaction: '' }))).toBe(
      'invalid_payment',
    )
    expect(await codeOf(() => X402.SettleResponse.parse({ ...success, payer: undefined }))).toBe(
      'invalid_payment',
    )
    expect(await codeOf(() => X402.SettleResponse.parse({ ...success, success: 'true' }))).toBe(
      'invalid_payment',
    )
  })

  test('failure keeps its reason, the setup address, whether to retry, and an earlier transaction', () => {
    expect(X402.SettleResponse.parse(failure)).toEqual(failure)
    const used = { ...failure, errorReason: 'invalid_payment', transaction: success.transaction }
    expect(X402.SettleResponse.parse(used)).toEqual(used)
  })

  test('success and failure are told apart by type', () => {
    const response = X402.SettleResponse.parse(success)
    if (response.success) expectTypeOf(response.payer).toEqualTypeOf<`0x${string}`>()
    else expectTypeOf(response.retryable).toEqualTypeOf<boolean | undefined>()
  })

  test('verify and supported responses are read as sent', () => {
    const invalid = {
      isValid: false,
      invalidReason: 'invalid_payment',
      invalidMessage: 'expired',
      payer: dev.address,
    }
    expect(X402.VerifyResponse.parse(invalid)).toEqual(invalid)
    expect(X402.VerifyResponse.parse({ isValid: true })).toEqual({ isValid: true })
    expect(X402.SupportedResponse.parse(supported)).toEqual(supported)
  })
})

describe('hostile input', () => {
  test.each([
    ['payment requirements', requirements, X402.PaymentRequirements.parse],
    ['payment required', required, X402.PaymentRequired.parse],
    ['payment payload', payload, X402.PaymentPayload.parse],
    [
      'settle request',
      { x402Version: 2, paymentPayload: payload, paymentRequirements: requirements },
      X402.SettleRequest.parse,
    ],
    ['settle success', success, X402.SettleResponse.parse],
    ['settle failure', failure, X402.SettleResponse.parse],
    ['verify response', { isValid: true, payer: dev.address }, X402.VerifyResponse.parse],
    ['supported response', supported, X402.SupportedResponse.parse],
  ])('near a %s gives a value or a ProtocolError', async (_, valid, parse) => {
    await expectOnlyProtocolErrors(hostileJson(valid), parse)
  })

  test.each([
    ['PAYMENT-REQUIRED', X402.PaymentRequired.serialize(required), X402.PaymentRequired.deserialize],
    ['PAYMENT-SIGNATURE', X402.PaymentPayload.serialize(payload), X402.PaymentPayload.deserialize],
    ['PAYMENT-RESPONSE', X402.SettleResponse.serialize(success), X402.SettleResponse.deserialize],
    ['network', 'eip155:84532', X402.Network.parse],
  ])('near a %s gives a value or a ProtocolError', async (_, valid, parse) => {
    await expectOnlyProtocolErrors(hostileText(valid), parse)
  })
})
