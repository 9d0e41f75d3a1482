// What is answered, and what a payment looks like: for the reference. Tests compare both with real requests and answers.
import type { X402 } from '@referrer/protocol'
import { z } from 'zod'
import type { SettlementStatus } from '../settlement/types.ts'

const matching = <T extends string>(pattern: RegExp, about: string) =>
  (z.string().regex(pattern) as unknown as z.ZodType<T, T>).meta({
    about,
    shown: { type: 'string', pattern: pattern.source },
  })

const address = (about: string) => matching<`0x${string}`>(/^0x[0-9a-fA-F]{40}$/, about)
const hash = (about: string) => matching<`0x${string}`>(/^0x[0-9a-fA-F]{64}$/, about)
const network = matching<X402.Network.Network>(/^eip155:[1-9]\d*$/, 'The chain, as CAIP-2 names it.')
const amount = (about: string) => matching(/^\d+$/, about)
const reason = z.enum(['invalid_payment', 'self_referral', 'settle_failed'])
const yes = (about: string) => z.literal(true).exactOptional().meta({ about })

export const SettleSuccess = z
  .object({
    success: z.literal(true),
    transaction: hash('That split the money.'),
    network,
    payer: address('Who paid.'),
  })
  .meta({ id: 'SettleSuccess' }) satisfies z.ZodType<X402.SettleResponse.SettleSuccess>

const until = z.number().exactOptional().meta({
  about:
    'Of a pending one that was sent without effect: until when its authorisation can be used, in Unix seconds.',
})

const failure = {
  success: z.literal(false),
  errorReason: reason,
  errorMessage: z.string().meta({ about: 'What is wrong, and what to do about it.' }),
  transaction: matching(/^(0x[0-9a-f]{64})?$/, 'That used the payment before; else empty.'),
  network,
  payer: address('Who would have paid.').exactOptional(),
  setup_url: z.string().exactOptional().meta({ about: 'Where to learn how buying works.' }),
  retryable: yes('Nothing was sent: the same payment can be sent again.'),
  pending: yes('It was sent, or may have been: ask for the settlement before paying again.'),
  until,
  take_back: z
    .object({
      to: address('The split router.'),
      data: matching(/^0x([0-9a-f]{2})+$/, 'The call.'),
      not_before: z.int().meta({ about: 'Unix seconds from which on it works; 0: now.' }),
    })
    .exactOptional()
    .meta({
      about:
        'The money is in the router and is not split: the call by which anybody gives it back to its payer.',
    }),
}

export const SettleFailure = z
  .object(failure)
  .meta({ id: 'SettleFailure' }) satisfies z.ZodType<X402.SettleResponse.SettleFailure>

export const Settled = z.union([SettleSuccess, SettleFailure]).meta({ id: 'SettleResponse' })

export const Verified = z
  .object({
    isValid: z.boolean(),
    invalidReason: reason.exactOptional(),
    invalidMessage: z.string().exactOptional(),
    payer: address('Who would pay.').exactOptional(),
  })
  .meta({ id: 'VerifyResponse' }) satisfies z.ZodType<X402.VerifyResponse.VerifyResponse>

const refusal = {
  error: z.string().meta({ about: 'What is wrong with the request.' }),
  detail: z.string().exactOptional().meta({ about: 'What exactly, where there is more to say.' }),
  errorReason: z.string().meta({ about: 'One word for programs.' }),
  errorMessage: z.string().meta({ about: 'Error and detail.' }),
}

export const Refusal = z.object(refusal).meta({ id: 'Refusal' })
export const SettleRefusal = z.object({ ...refusal, ...failure }).meta({ id: 'SettleRefusal' })
export const VerifyRefusal = z
  .object({ ...refusal, ...Verified.shape, errorReason: reason })
  .meta({ id: 'VerifyRefusal' })

export const Settlement = z
  .object({
    status: z.enum(['pending', 'settled', 'failed', 'unknown'] satisfies SettlementStatus[]),
    transaction: hash('That settled it.').nullable(),
    message: z.string().nullable().meta({ about: 'Why it failed.' }),
    until,
    payer: address('As it was asked for.'),
    nonce: hash('As it was asked for.'),
    network,
  })
  .meta({ id: 'Settlement' })

export const Supported = z
  .object({
    kinds: z.array(
      z.object({
        x402Version: z.literal(2),
        scheme: z.literal('exact'),
        network,
        extra: z
          .looseObject({
            name: z.string().meta({ about: 'Of the EIP-712 domain of the token.' }),
            version: z.string().meta({ about: 'Of the EIP-712 domain of the token.' }),
            asset: address('The token that is paid with.'),
            payTo: address('The split router: whom every payment is made to.'),
          })
          .exactOptional(),
      }),
    ),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(address('Who sends the settlements.'))),
  })
  .meta({ id: 'Supported' }) satisfies z.ZodType<X402.SupportedResponse.SupportedResponse>

const resources = z.array(
  z.looseObject({
    resource: z.string(),
    type: z.string(),
    x402Version: z.int(),
    accepts: z.array(z.looseObject({})),
  }),
)

export const Catalogue = z
  .looseObject({
    x402Version: z.int(),
    items: resources,
    pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
  })
  .meta({ id: 'Catalogue' })

export const Found = z
  .looseObject({
    x402Version: z.int(),
    resources,
    partialResults: z.boolean(),
    pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
  })
  .meta({ id: 'Found' })

const Check = z.object({ ok: z.boolean(), detail: z.string() }).meta({ id: 'Check' })

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not ready', 'stopping']),
    checks: z.record(z.string(), Check).meta({ about: 'The database, and every chain.' }),
  })
  .meta({ id: 'Readiness' })

const terms = {
  scheme: z.literal('exact'),
  network,
  asset: address('USDC.'),
  amount: amount('In base units.'),
  payTo: address('The split router.'),
}

/** What is sent to `/verify` and `/settle`. The protocol library reads it, and says more exactly what is wrong. */
export const SettleRequest = z
  .looseObject({
    x402Version: z.literal(2),
    paymentPayload: z
      .looseObject({
        x402Version: z.literal(2).exactOptional(),
        accepted: z.looseObject(terms).exactOptional().meta({ about: 'The offer as the buyer echoes it.' }),
        payload: z.looseObject({
          signature: matching(/^0x([0-9a-fA-F]{2})+$/, 'Of the authorisation, by its payer.'),
          authorization: z.looseObject({
            from: address('The payer.'),
            to: address('The split router.'),
            value: amount('Exactly the amount.'),
            validAfter: amount('Unix seconds.'),
            validBefore: amount('Unix seconds.'),
            nonce: hash('By chance, or one that commits to the link.'),
          }),
        }),
        extensions: z.looseObject({
          attributionToken: z.string().meta({ about: 'Of the ref link.' }),
          buyerAgentId: z
            .string()
            .nullish()
            .meta({ about: 'The buying agent in decimal; left out, null or empty: none.' }),
          attributionSalt: hash('Of a nonce that commits to the link.').nullish(),
        }),
      })
      .meta({ about: 'What the buyer sent in `PAYMENT-SIGNATURE`, decoded.' }),
    paymentRequirements: z
      .looseObject({
        ...terms,
        maxTimeoutSeconds: z.int().min(1),
        extra: z.looseObject({
          name: z.string(),
          version: z.string(),
          authorizationType: z
            .enum(['TransferWithAuthorization', 'ReceiveWithAuthorization'])
            .exactOptional(),
          productId: hash('The product sold, where it is not the one of the link.').exactOptional(),
        }),
      })
      .meta({ about: "The seller's own `accepts[0]`." }),
  })
  .meta({ id: 'SettleRequest' })
