import { z } from 'zod'
import { record, text, wholeNumber } from '../../kit/fields.ts'
import { Answer, type Route, route } from '../../kit/route.ts'
import { CHECKOUT_TIMEOUT_MS, checkOut } from './operations.ts'

const SILENT = 'the shop does not answer'
const MOST_PARAMETERS = 20
/** Headers of one request have 16 KiB together, and the token needs some of it. */
const LONGEST_PAYMENT = 12_288
/** Base64, padded or not, of either alphabet. */
const PAYMENT = /^[A-Za-z0-9+/_=-]+$/

const Checkout = z
  .strictObject({
    token: z.string().meta({ about: 'The attribution token of a ref link.' }),
    payment: z
      .string()
      .max(LONGEST_PAYMENT)
      .regex(PAYMENT)
      .optional()
      .meta({
        about: 'The value of the `PAYMENT-SIGNATURE` header; left out, the shop is asked for its price.',
        shown: { type: 'string', pattern: PAYMENT.source, maxLength: LONGEST_PAYMENT },
      }),
    query: record(text(1_000), { longestKey: 64, most: MOST_PARAMETERS })
      .optional()
      .meta({
        about: `What the product is asked: added to the query of its endpoint. At most ${MOST_PARAMETERS} parameters.`,
      }),
  })
  .meta({ id: 'Checkout' })

const CheckoutAnswer = z
  .object({
    status: wholeNumber.meta({ about: 'Of the shop’s answer.' }),
    content_type: z.string().nullable(),
    body: z.string().meta({ about: 'Text, or base64 when the answer is not text.' }),
    is_base64: z.boolean(),
    payment_required: z
      .string()
      .nullable()
      .meta({ about: 'The `PAYMENT-REQUIRED` header; else the body of a 402 that makes an offer.' }),
    payment_response: z.string().nullable().meta({ about: 'The `PAYMENT-RESPONSE` header.' }),
  })
  .meta({ id: 'CheckoutAnswer' })

export const checkoutRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/checkout',
    tag: 'Ref links',
    summary: 'Buy through a ref link from a browser, which may not call the shop itself',
    about: `Calls the endpoint of the product once, with the token and the payment and nothing else of the caller. Redirects are not followed. An answer that takes more than ${CHECKOUT_TIMEOUT_MS / 1_000} seconds, or is larger than 256 KiB, counts as none.`,
    auth: 'none',
    body: { schema: Checkout, refusal: 'invalid request' },
    perSecond: 2,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    answerTimeoutMs: CHECKOUT_TIMEOUT_MS + 5_000,
    response: CheckoutAnswer,
    refusals: { 400: 'invalid token', 404: 'not found', 503: SILENT },
    async handle({ context, client, body }) {
      const answer = await checkOut(context, client, body)
      if (!('unreachable' in answer)) return answer
      return new Answer(JSON.stringify({ error: SILENT, detail: answer.unreachable }), { status: 503 })
    },
  }),
]
