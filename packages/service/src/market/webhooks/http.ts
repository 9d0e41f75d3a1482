import { z } from 'zod'
import { chainOf } from '../../kit/chain-of.ts'
import type { Config } from '../../kit/config.ts'
import {
  bodyId,
  clamp,
  integer,
  list,
  moment,
  momentShown,
  optional,
  text,
  wholeNumber,
} from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import type { DeliveryRow, Replayed } from './deliveries.ts'
import { EVENTS } from './events.ts'
import {
  createWebhook,
  deleteWebhook,
  deliveriesOf,
  LONGEST_URL,
  listWebhooks,
  MOST_OF_OWNER,
  MOST_REPLAYED,
  MOST_TESTS,
  replay,
  rotateSecret,
  testWebhook,
} from './operations.ts'
import { TIMEOUT_MS } from './post.ts'
import type { WebhookRow } from './store.ts'

const Webhook = z
  .object({
    webhook_id: z.string(),
    chain_id: wholeNumber,
    url: z.string(),
    events: z.array(z.enum(EVENTS)).meta({ about: 'The types of messages that it gets.' }),
    description: z.string(),
    agent_id: wholeNumber
      .nullable()
      .meta({ about: 'Only messages about this agent; null: about all that the wallet owns.' }),
    merchant_id: wholeNumber
      .nullable()
      .meta({ about: 'Only messages about this merchant; null: about all that the wallet owns.' }),
    created_at: momentShown,
    disabled_at: momentShown.nullable().meta({
      about:
        'Since when nothing is sent, and no message is made; null: it is enabled. A new one is disabled until a test succeeds.',
    }),
    disabled_reason: z.string().nullable(),
    failing_since: momentShown.nullable().meta({ about: 'Null: the last attempt succeeded.' }),
  })
  .meta({ id: 'Webhook' })

const secret = z.string().meta({
  about: 'Verifies the messages, as in Standard Webhooks. It is shown this once.',
  shown: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
})

const Delivery = z
  .object({
    delivery_id: z.string().meta({ about: 'The header `webhook-id`, the same in every attempt.' }),
    type: z.string(),
    created_at: momentShown,
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: wholeNumber.meta({ about: 'Since it was made or last replayed.' }),
    last_attempt_at: momentShown.nullable(),
    last_status: wholeNumber
      .nullable()
      .meta({ about: 'The HTTP status of the last answer; null: there was none.' }),
    last_answer: z
      .string()
      .nullable()
      .meta({ about: 'At most 200 characters of it, or why there was none.' }),
    next_attempt_at: momentShown.nullable(),
    delivered_at: momentShown.nullable(),
    can_replay: z.boolean(),
  })
  .meta({ id: 'WebhookDelivery' })

/** Postgres cannot be asked for every text: one that is no id becomes the empty one, which no webhook has. */
const params = z.object({
  id: z
    .string()
    .transform((id) => (/^wh_[0-9a-f]{32}$/.test(id) ? id : ''))
    .meta({ about: 'The webhook.', shown: { type: 'string' } }),
})
const base = {
  tag: 'Webhooks',
  auth: 'caller',
  isServed: ({ webhookKeys }: Config) => webhookKeys.length > 0,
} as const
const ONE_OF_THEM = 'delivery_id, since or after, one of them'
const unknown = { 400: 'bad request', 404: 'not found' } as const

const NAMED = 'A signed request names itself in the body; with a session there need be none.'

export const webhookRoutes: Route[] = [
  route({
    ...base,
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Have messages about what the calling wallet owns posted to a URL',
    about: `It is disabled until a test succeeds: give the secret to the endpoint, then call \`POST /v1/webhooks/{id}/test\`. Messages are signed as in Standard Webhooks (https://www.standardwebhooks.com). A wallet has at most ${MOST_OF_OWNER} webhooks.`,
    body: {
      schema: z.object({
        chain_id: z
          .int()
          .optional()
          .meta({
            about: 'A chain of this service; left out, the default chain.',
            shown: { type: 'integer' },
          }),
        url: z
          .string()
          .meta({ about: 'Only https.', shown: { type: 'string', format: 'uri', maxLength: LONGEST_URL } }),
        events: list(z.enum(EVENTS), { least: 1, most: EVENTS.length })
          .optional()
          .meta({ about: 'Which types of messages; left out: all.' }),
        description: text(200).default(''),
        agent_id: optional(bodyId).meta({
          about: 'Only about this agent of the caller.',
          shown: { type: 'integer', minimum: 0 },
        }),
        merchant_id: optional(bodyId).meta({
          about: 'Only about this merchant of the caller.',
          shown: { type: 'integer', minimum: 0 },
        }),
      }),
      refusal: 'invalid request',
    },
    status: 201,
    response: Webhook.extend({ secret }).meta({ id: 'NewWebhook' }),
    refusals: {
      400: [
        'chain_id not configured',
        `url must be an https address of at most ${LONGEST_URL} characters on a public host`,
        'agent_id or merchant_id, not both',
      ],
      403: ['caller does not own this agent', 'caller does not own this merchant'],
      404: ['agent not found on-chain', 'merchant not found on-chain'],
      409: `this wallet has ${MOST_OF_OWNER} webhooks: delete one first`,
    },
    async handle({ context, caller, client, body }) {
      const { url, events, description, agent_id: agentId, merchant_id: merchantId } = body
      const draft = { url, events, description, agentId, merchantId }
      const made = await createWebhook(context, chainOf(context, body.chain_id), caller, draft, client)
      return { ...shown(made.webhook), secret: made.secret }
    },
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'The webhooks of the calling wallet',
    about: 'On all chains, oldest first, without their secrets.',
    reads: 'primary',
    response: z.object({ webhooks: z.array(Webhook) }).meta({ id: 'Webhooks' }),
    handle: async ({ context, caller }) => ({ webhooks: (await listWebhooks(context, caller)).map(shown) }),
  }),
  route({
    ...base,
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    summary: 'Delete a webhook, with its messages',
    about: NAMED,
    params,
    status: 204,
    refusals: unknown,
    handle: ({ context, caller, params }) => deleteWebhook(context, caller, params.id),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries',
    summary: 'The messages to a webhook, and what became of them',
    about: 'Newest first. They are kept for 30 days.',
    reads: 'primary',
    params,
    query: z.object({
      limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)),
      offset: integer(0, 'How many to skip, at most 10000.', clamp(0, 10_000)),
    }),
    response: z.object({ deliveries: z.array(Delivery) }).meta({ id: 'WebhookDeliveries' }),
    refusals: unknown,
    async handle({ context, caller, params, query }) {
      return { deliveries: (await deliveriesOf(context, caller, params.id, query)).map(shownDelivery) }
    },
  }),
  route({
    ...base,
    method: 'POST',
    path: '/v1/webhooks/{id}/replay',
    summary: 'Send messages again',
    about: `One, by its id, or the first ${MOST_REPLAYED} that were made since a moment, or after another one. They have the ids that they had.`,
    params,
    body: {
      schema: z.object({
        delivery_id: text(100).optional(),
        since: optional(moment('invalid since', 'RFC 3339.')),
        after: text(100)
          .optional()
          .meta({ about: 'Those that were made after this delivery: `next_after` of the answer before.' }),
      }),
      refusal: 'invalid request',
    },
    response: z
      .object({
        replayed: wholeNumber,
        next_after: z.string().nullable().meta({ about: 'Where to go on; null: there are no more.' }),
      })
      .meta({ id: 'Replayed' }),
    refusals: {
      ...unknown,
      400: [unknown[400], ONE_OF_THEM],
      409: [
        'the webhook is disabled: a test that succeeds enables it',
        'no such delivery, or it waits already, or its text is no longer kept',
      ],
    },
    async handle({ context, caller, params, body }) {
      const { count, nextAfter } = await replay(context, caller, params.id, replayedOf(body))
      return { replayed: count, next_after: nextAfter }
    },
  }),
  route({
    ...base,
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    summary: 'Send a test message now',
    about: `Its type is \`webhook.test\`. When it is delivered, the webhook is enabled. One that has never been has ${MOST_TESTS} tests. ${NAMED}`,
    perSecond: 5,
    answerTimeoutMs: TIMEOUT_MS + 5_000,
    params,
    response: z
      .object({
        delivered: z.boolean(),
        last_status: wholeNumber.nullable(),
        last_answer: z.string(),
      })
      .meta({ id: 'WebhookTest' }),
    refusals: { ...unknown, 409: `${MOST_TESTS} tests failed: delete the webhook and make a new one` },
    async handle({ context, caller, params }) {
      const { isDelivered, statusCode, answer } = await testWebhook(context, caller, params.id)
      return { delivered: isDelivered, last_status: statusCode, last_answer: answer }
    },
  }),
  route({
    ...base,
    method: 'POST',
    path: '/v1/webhooks/{id}/rotate',
    summary: 'Get a new secret',
    about: `For 24 hours messages have two signatures, by the new secret and by the one before. ${NAMED}`,
    params,
    response: z
      .object({ webhook_id: z.string(), secret, old_secret_until: momentShown })
      .meta({ id: 'RotatedWebhook' }),
    refusals: unknown,
    async handle({ context, caller, params }) {
      const { webhook, secret } = await rotateSecret(context, caller, params.id)
      const { webhook_id, old_secret_until } = webhook
      return { webhook_id, secret, old_secret_until: timeOrNull(old_secret_until) }
    },
  }),
]

/** What a body asks to have sent again. */
function replayedOf(body: {
  delivery_id?: string | undefined
  since?: Date | undefined
  after?: string | undefined
}): Replayed {
  const { delivery_id: deliveryId, since, after } = body
  const [which, ...more] = [
    ...(deliveryId === undefined ? [] : [{ deliveryId }]),
    ...(since === undefined ? [] : [{ since }]),
    ...(after === undefined ? [] : [{ after }]),
  ]
  if (!which || more.length > 0) throw new MarketError('invalid input', ONE_OF_THEM)
  return which
}

const timeOrNull = (date: Date | null) => date && time(date)
const wholeOrNull = (value: bigint | null) => (value === null ? null : whole(value))

const shown = (row: WebhookRow) => ({
  webhook_id: row.webhook_id,
  chain_id: whole(row.chain_id),
  url: row.url,
  events: row.events ?? EVENTS,
  description: row.description,
  agent_id: wholeOrNull(row.agent_id),
  merchant_id: wholeOrNull(row.merchant_id),
  created_at: time(row.created_at),
  disabled_at: timeOrNull(row.disabled_at),
  disabled_reason: row.disabled_reason,
  failing_since: timeOrNull(row.failing_since),
})

const shownDelivery = (row: DeliveryRow) => ({
  delivery_id: row.delivery_id,
  type: row.type,
  created_at: time(row.created_at),
  status: row.next_at ? 'pending' : wasDelivered(row) ? 'delivered' : 'failed',
  attempts: row.attempts,
  last_attempt_at: timeOrNull(row.tried_at),
  last_status: row.status_code,
  last_answer: row.answer,
  next_attempt_at: timeOrNull(row.next_at),
  delivered_at: timeOrNull(row.delivered_at),
  can_replay: row.can_replay,
})

/** Of the last attempt: an earlier one may have been, before a replay. */
const wasDelivered = ({ status_code }: DeliveryRow) =>
  status_code !== null && status_code >= 200 && status_code < 300
