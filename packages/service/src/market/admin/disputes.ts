import { z } from 'zod'
import { hex32, id, momentShown, page, requireValue, wholeNumber } from '../../kit/fields.ts'
import { hex, time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { type DisputeRow, listDisputes } from '../reviews/disputes.ts'
import { listed, noteBody, withJson } from './fields.ts'
import { resolve } from './operations.ts'

export const Dispute = z
  .object({
    internal_id: wholeNumber,
    on_chain_id: wholeNumber.nullable(),
    agent_id: wholeNumber,
    merchant_id: wholeNumber,
    product_id: hex32,
    satisfaction_score: z.number().nullable(),
    published_at: momentShown.nullable(),
    reason: z.string().nullable().meta({ about: 'What the author says against it.' }),
    disputed_at: momentShown.nullable(),
    content_json: z.looseObject({}),
  })
  .meta({ id: 'Dispute' })

export const adminDisputeRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/disputes',
    tag: 'Admin',
    summary: 'Reviews whose author disputes that buyers contradict them, oldest first',
    auth: 'admin',
    query: z.object({ page, limit: listed(20, 100) }),
    takesChain: true,
    response: z
      .object({ disputes: z.array(Dispute), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'Disputes' }),
    async handle({ context, chain, query: { page, limit } }) {
      const offset = offsetOf({ page, limit })
      const rows = await listDisputes(context.sql, chain.config.chainId, { limit, offset })
      return withJson({ page, limit }, 'disputes', `[${rows.map(disputeJson).join(',')}]`)
    },
  }),
  route({
    method: 'POST',
    path: '/admin/disputes/{internal_id}/resolve',
    tag: 'Admin',
    summary: 'End a dispute',
    auth: 'admin',
    params: z.object({ internal_id: id(1, 'invalid review id', 'The review, by its internal id.') }),
    body: {
      ...noteBody,
      schema: noteBody.schema.extend({
        upheld: z
          .union([z.boolean(), z.any().transform(() => undefined)])
          .prefault(false)
          .meta({
            about: 'Whether the contradiction stands, for ranks and for money, although it was disputed.',
            shown: { type: 'boolean', default: false },
          }),
      }),
    },
    takesChain: true,
    response: z
      .object({ internal_id: wholeNumber, comparison_outcome: z.literal('resolved') })
      .meta({ id: 'ResolvedDispute' }),
    refusals: { 400: 'invalid upheld', 404: 'not found', 409: 'review is not disputed' },
    async handle(call) {
      const { internal_id } = call.params
      const { note, upheld } = call.body
      await resolve(call, internal_id, { note, upheld: requireValue(upheld, 'upheld') })
      return { internal_id: whole(internal_id), comparison_outcome: 'resolved' }
    },
  }),
]

/** The review's content is inserted byte for byte as it was published. */
export const disputeJson = (row: DisputeRow) =>
  withJson(
    {
      internal_id: whole(row.internal_id),
      on_chain_id: row.review_id === null ? null : whole(row.review_id),
      agent_id: whole(row.agent_id),
      merchant_id: whole(row.merchant_id),
      product_id: hex(row.product_id),
      satisfaction_score: row.satisfaction_score,
      published_at: row.published_at && time(row.published_at),
      reason: row.reason,
      disputed_at: row.opened_at && time(row.opened_at),
    },
    'content_json',
    row.content ?? '{}',
  )
