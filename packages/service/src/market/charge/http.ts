import { z } from 'zod'
import { Answer, type Route, route } from '../../kit/route.ts'
import { CHARGE_TIMEOUT_MS, requestCharge } from './operations.ts'

const SILENT = 'the facilitator did not answer; ask again with the same body: a transfer is charged once'
/** An example of the facilitator's own 503. */
const STOPPING = 'the facilitator is stopping; send the same request again'
/** Size limit for the signature of a contract wallet; the facilitator does not settle longer ones. */
const MOST_SIGNATURE_BYTES = 4_096

const matching = (pattern: RegExp, mostChars: number, about: string) =>
  z
    .string()
    .max(mostChars)
    .regex(pattern)
    .meta({ about, shown: { type: 'string', pattern: pattern.source, maxLength: mostChars } })

const Charge = z.object({
  txHash: matching(/^0x[0-9a-fA-F]{64}$/, 66, 'The transaction of the transfer.'),
  attributionToken: matching(/^[A-Za-z0-9_-]+$/, 4_096, 'The token of the ref link that was followed.'),
  buyerAgentId: matching(
    /^\d*$/,
    16,
    'The agent that buys, in decimal; left out, null or empty: none.',
  ).nullish(),
  chainId: z
    .int()
    .min(1)
    .meta({ shown: { type: 'integer', minimum: 1 } }),
  buyerSignature: matching(
    /^0x(?:[0-9a-fA-F]{2})+$/,
    2 + 2 * MOST_SIGNATURE_BYTES,
    'A `ChargeCommitment`, signed by who sent the transfer.',
  ),
})

const Outcome = z
  .union([
    z.object({
      success: z.literal(true),
      transaction: z.string().meta({ about: 'That split the money.' }),
      network: z.string(),
      payer: z.string(),
    }),
    z.looseObject({
      success: z.literal(false),
      errorReason: z.string(),
      errorMessage: z.string(),
      transaction: z.string().meta({ about: 'That used the money before; else empty.' }),
      network: z.string(),
      retryable: z.boolean().optional().meta({ about: 'Nothing was sent: ask again.' }),
      pending: z.boolean().optional().meta({ about: 'It was sent, or may have been: ask again.' }),
      until: z
        .int()
        .optional()
        .meta({ about: 'Of a pending one: until when its authorisation can be used, in Unix seconds.' }),
      take_back: z
        .object({
          to: z.string().meta({ about: 'The split router.' }),
          data: z.string().meta({ about: 'The call.' }),
          not_before: z.int().meta({ about: 'Unix seconds from which on it works; 0: now.' }),
        })
        .optional()
        .meta({
          about:
            'The money is in the router and is not split: the call by which anybody gives it back to its payer.',
        }),
    }),
  ])
  .meta({ id: 'ChargeOutcome' })

export const chargeRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/mpp/charge',
    tag: 'Ref links',
    summary: 'Have a plain USDC transfer to the split router counted as a purchase',
    about:
      "The transfer is of the exact price, confirmed, and made by who signs. It is charged once. What is not split can be taken back by its payer, with the call in `take_back`. Nobody else's signature is needed.",
    auth: 'none',
    body: { schema: Charge, refusal: 'invalid request' },
    perSecond: 5,
    headers: { 'cache-control': 'no-store' },
    answerTimeoutMs: CHARGE_TIMEOUT_MS + 1_000,
    response: Outcome,
    refusals: { 404: 'not found', 503: STOPPING, 504: SILENT },
    async handle({ context, body }) {
      const charged = await requestCharge(context, body)
      if (!charged) return new Answer(JSON.stringify({ error: SILENT }), { status: 504 })
      const { status, retryAfter } = charged
      return new Answer(charged.body, { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} })
    },
  }),
]
