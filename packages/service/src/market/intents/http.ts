import { z } from 'zod'
import { chainOf } from '../../kit/chain-of.ts'
import type { Context } from '../../kit/context.ts'
import {
  bodyChainId,
  bodyId,
  clamp,
  id,
  integer,
  momentShown,
  offset,
  wholeNumber,
} from '../../kit/fields.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import { ownedJson, ownJson } from './json.ts'
import { LIFETIME_SECONDS, listIntents, queueIntent, withdrawIntent } from './operations.ts'
import { LONGEST_KEY } from './payload.ts'

/** The operation checks the fields and stores the payload in the order in which it was sent. */
const payload = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  .meta({
    about:
      'What to buy, for pay_for_product of the signer, and what to do afterwards. The runner gets it as it came.',
    shown: {
      type: 'object',
      properties: {
        ref_link: { type: 'string', format: 'uri', description: 'The link of the review to buy through.' },
        max_amount: {
          type: ['integer', 'string'],
          minimum: 0,
          pattern: '^(0|[1-9][0-9]{0,77})$',
          description: 'The most that it may cost, in USDC base units.',
        },
        idempotency_key: {
          type: 'string',
          minLength: 1,
          maxLength: LONGEST_KEY,
          description: 'Another for every purchase: with the same one it is made once.',
        },
        review: {
          type: 'boolean',
          default: false,
          description: 'Whether the runner is to vote and publish a review after the purchase.',
        },
      },
      required: ['ref_link', 'max_amount', 'idempotency_key'],
      additionalProperties: false,
    },
  })

export const IntentShown = z.object({
  intent_id: z.string(),
  chain_id: wholeNumber,
  agent_id: wholeNumber,
  type: z.literal('buy_product').meta({ about: 'buy_product spends money.' }),
  payload: z.unknown().meta({ about: 'JSON, as it was queued.' }),
  created_at: momentShown,
  expires_at: momentShown,
})

const Intent = IntentShown.extend({
  status: z.enum(['pending', 'executed', 'skipped', 'withdrawn', 'expired']),
  result: z.string().optional().meta({ about: 'What the runner said of one that it executed.' }),
  reason: z.string().optional().meta({ about: 'Why the runner skipped it.' }),
  closed_at: momentShown.optional().meta({ about: 'Left out while it is pending, and when it expired.' }),
}).meta({ id: 'Intent' })

/** Answers 404 when intents are disabled, as if the routes did not exist. */
function requireQueue({ config }: Context): void {
  if (!config.hasIntents) throw new MarketError('not found', 'not found')
}

const { least, usual, most } = LIFETIME_SECONDS

export const intentRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/intents',
    tag: 'Intents',
    summary: 'Queue a purchase for an agent that the caller owns',
    about:
      'The runner of the agent finds it with get_pending_intents over MCP, buys, and marks it. Nothing is bought by the service itself.',
    auth: 'caller',
    body: {
      schema: z.object({
        chain_id: bodyChainId,
        agent_id: bodyId,
        type: z.literal('buy_product'),
        payload,
        expires_in: z
          .int()
          .default(usual)
          .meta({
            about: 'After so many seconds it is not pending any more.',
            shown: { type: 'integer', minimum: least, maximum: most, default: usual },
          }),
      }),
      refusal: 'invalid request',
    },
    status: 201,
    response: Intent,
    refusals: {
      400: [
        'chain_id not configured',
        `expires_in must be ${least} to ${most} seconds`,
        'payload.ref_link: a ref link must end in /r/<token>; copy the link of the review again',
        'payload.max_amount must be base units: an integer or a decimal string',
        `payload.idempotency_key must be a text of 1 to ${LONGEST_KEY} characters`,
        'payload.review must be true or false',
      ],
      403: 'caller does not own this agent',
      404: ['agent not found on-chain', 'not found'],
      409: 'agent 7 has 1000 pending intents: withdraw some',
    },
    async handle({ context, caller, body }) {
      requireQueue(context)
      const chain = chainOf(context, body.chain_id)
      const intent = await queueIntent(context, chain, caller, {
        agentId: body.agent_id,
        type: body.type,
        payload: body.payload,
        lifetimeSeconds: body.expires_in,
      })
      return ownJson(intent, new Date(context.clock()))
    },
  }),
  route({
    method: 'GET',
    path: '/v1/intents',
    tag: 'Intents',
    summary: 'What the caller queued for an agent, and what became of it',
    about: 'Newest first. Of an agent that the caller owns.',
    auth: 'caller',
    reads: 'primary',
    query: z.object({
      agent_id: id(0, 'invalid agent_id', 'The agent.').meta({ absent: 'agent_id required' }),
      limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)),
      offset,
    }),
    takesChain: true,
    response: z.object({ intents: z.array(Intent) }).meta({ id: 'Intents' }),
    refusals: { 403: 'caller does not own this agent', 404: ['agent not found on-chain', 'not found'] },
    async handle({ context, chain, caller, query: { agent_id: agentId, ...page } }) {
      requireQueue(context)
      const rows = await listIntents(context, chain, caller, { agentId, ...page })
      return `{"intents":${ownedJson(rows, new Date(context.clock()))}}`
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/intents/{id}',
    tag: 'Intents',
    summary: 'Withdraw a pending intent',
    about: 'A signed request names itself in the body; with a session there need be none.',
    auth: 'caller',
    params: z.object({ id: z.string().meta({ about: 'The intent.' }) }),
    status: 204,
    refusals: { 400: 'bad request', 404: 'not found', 409: 'intent is already executed' },
    async handle({ context, caller, params }) {
      requireQueue(context)
      await withdrawIntent(context, caller, params.id)
    },
  }),
]
