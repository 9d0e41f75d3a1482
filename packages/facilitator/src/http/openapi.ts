// The reference of the facilitator.
import { type DescribedAnswer, describeOperations, type Operation } from '@referrer/process/openapi'
import { z } from 'zod'
import { CredentialBody } from '../charge/credential.ts'
import { Body as Charge } from '../charge/request.ts'
import type { Config } from '../config.ts'
import { ListQuery, SearchQuery } from './discovery.ts'
import { AboutPayment, AboutQuery } from './settlements.ts'
import {
  Catalogue,
  Found,
  Readiness,
  Refusal,
  Settled,
  Settlement,
  SettleRefusal,
  SettleRequest,
  Supported,
  Verified,
  VerifyRefusal,
} from './shapes.ts'

const VERSION = '1'
const ABOUT = `Verifies payments through ref links and settles them on-chain, each exactly once.

A payment that is not settled is answered with 200 and \`"success": false\`. Every other refusal has \`error\`, and the same as
\`errorReason\` and \`errorMessage\`. To send the same body again is always safe.

**Signed requests** carry \`X-Agent-Timestamp\` (unix seconds, within 60 seconds of now) and \`X-Agent-Signature\`: an EIP-191 personal
signature over the 32 bytes keccak256(body ‖ timestamp as uint64, big-endian), by the owner of the merchant or a key that the owner
gave \`SETTLEMENT_SIGNER_ROLE\`.`

const TAGS = {
  Payments: 'What merchants ask for, in the words of x402.',
  Settlements: 'What became of a payment.',
  Discovery:
    "What can be bought, as x402's Bazaar tells it. Only where the facilitator knows its marketplace.",
  Operation: 'For machines that watch the facilitator.',
}

const SIGNED = [{ timestamp: [], signature: [] }]

export function describeFacilitator({
  settlementAuth,
  metrics,
  marketUrl,
}: Pick<Config, 'settlementAuth' | 'metrics' | 'marketUrl'>) {
  const security = settlementAuth === 'required' ? SIGNED : [{}, ...SIGNED]
  return describeOperations(
    [
      payment({
        path: '/verify',
        summary: 'Whether a payment would be settled now',
        about: 'Moves nothing. It is not needed before `/settle`.',
        security,
        body: SettleRequest,
        answers: { 200: json('Whether it would', Verified), ...refused(VerifyRefusal, [400, 401, 403, 413]) },
      }),
      payment({
        path: '/settle',
        summary: 'Settle a payment',
        about: 'Serve only when the answer has `"success": true`.',
        security,
        body: SettleRequest,
        answers: { 200: json('What became of it', Settled), ...refused(SettleRefusal, [400, 401, 403, 413]) },
      }),
      payment({
        path: '/mpp/charge',
        summary:
          'Have a plain USDC transfer to the split router, or an MPP credential, counted as a purchase',
        about:
          'The transfer is of the exact price, confirmed, and made by who signs. It is charged once. What is not split can be taken back by its payer, with the call in `take_back`. A `credential` is settled as at `/settle`; only such a request may be signed, or has to be.',
        security: [{}, ...SIGNED],
        body: z.union([Charge, CredentialBody]),
        answers: { 200: json('What became of it', Settled), ...refused(SettleRefusal, [400, 401, 403, 413]) },
      }),
      {
        ...read,
        path: '/supported',
        tag: 'Payments',
        summary: 'What can be paid here',
        about: 'Networks with their token and router, and who sends the settlements.',
        answers: { 200: json('What can', Supported), ...refused(Refusal, [429, 500]) },
      },
      {
        ...read,
        path: '/settlements/{payer}/{nonce}',
        tag: 'Settlements',
        summary: 'What became of a payment',
        about:
          'For a merchant whose call got no answer. A payment is named by its payer and the nonce of its authorisation.',
        params: AboutPayment.shape,
        query: AboutQuery.shape,
        answers: { 200: json('What did', Settlement), ...refused(Refusal, [400, 429, 500, 503]) },
      },
      ...(marketUrl === undefined ? [] : discovery()),
      {
        ...read,
        path: '/healthz',
        summary: 'Whether the process lives',
        answers: { 200: json('It does', z.object({ status: z.literal('ok') })) },
      },
      {
        ...read,
        path: '/readyz',
        summary: 'Whether payments that come now can be settled',
        answers: { 200: json('They can', Readiness), 503: json('They cannot', Readiness) },
      },
      ...(metrics ? [] : [METRICS]),
      {
        ...read,
        path: '/openapi.json',
        summary: 'This document',
        answers: {
          200: json('This', z.looseObject({ openapi: z.string() })),
          ...refused(Refusal, [429, 500]),
        },
      },
    ],
    {
      title: 'Referrer facilitator',
      about: ABOUT,
      version: VERSION,
      // Wherever the document came from.
      baseUrl: '/',
      tags: TAGS,
      securitySchemes: {
        timestamp: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Agent-Timestamp',
          description: 'Unix seconds, the ones that were signed.',
        },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Agent-Signature',
          description: '65 bytes as hex, over the exact body.',
        },
      },
    },
  )
}

const read = { method: 'GET', tag: 'Operation', security: [] } as const

const METRICS: Operation = {
  ...read,
  path: '/metrics',
  summary: 'Figures for Prometheus',
  answers: { 200: { description: 'Figures', content: { 'text/plain': { schema: z.string() } } } },
}

const discovery = (): Operation[] => [
  {
    ...read,
    path: '/discovery/resources',
    tag: 'Discovery',
    summary: 'Everything that is sold in the marketplace',
    about:
      'As the marketplace tells it, at most a few seconds ago. Call a resource with its `extensions.bazaar.info.input.headers`: one of them is the ref link.',
    query: ListQuery.shape,
    answers: { 200: json('What is', Catalogue), ...refused(Refusal, [400, 429, 500, 503]) },
  },
  {
    ...read,
    path: '/discovery/search',
    tag: 'Discovery',
    summary: 'What is sold in the marketplace that matches some words',
    query: SearchQuery.shape,
    answers: { 200: json('What matches', Found), ...refused(Refusal, [400, 429, 500, 503]) },
  },
]

/** Whoever posts a payment may also be asked to wait. */
function payment(operation: Omit<Operation, 'method' | 'tag'>): Operation {
  const refusal = operation.path === '/verify' ? VerifyRefusal : SettleRefusal
  const answers = { ...operation.answers, ...refused(refusal, [429, 500, 503]) }
  return { method: 'POST', tag: 'Payments', ...operation, answers }
}

const json = (description: string, schema: z.ZodType): DescribedAnswer => ({
  description,
  content: { 'application/json': { schema } },
})

const REFUSALS: Record<number, string> = {
  400: 'The request cannot be read: no JSON object, another `x402Version`, a field that does not fit',
  401: 'The signature of the request is missing or does not hold',
  403: 'Whoever signed may not settle for this merchant',
  413: 'The body has more than 64 KiB',
  429: 'More requests than one client may send',
  500: 'Something is wrong inside',
  503: 'Not now',
}
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
}

function refused(schema: z.ZodType, statuses: readonly number[]): Record<number, DescribedAnswer> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        ...json(REFUSALS[status] ?? '', schema),
        ...((status === 429 || status === 503) && { headers: RETRY_AFTER }),
      },
    ]),
  )
}
