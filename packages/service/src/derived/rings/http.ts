import { z } from 'zod'
import { id, momentShown, page, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { listed, noteBody } from '../../market/admin/fields.ts'
import { dismiss, readRing, readVotes } from './operations.ts'
import { caseJson, Ring, RingCaseShown, RingVote, ringJson, voteJson } from './shapes.ts'
import { listRings, STATES } from './store.ts'

const params = z.object({ ring_id: id(1, 'invalid ring id', 'The ring.') })
const refusals = { 404: 'not found' }

export const ringRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/rings',
    tag: 'Admin',
    summary: 'Suspected rings: owners who buy and vote among themselves',
    about:
      'Found once a day while a shop is verified. Open ones first, of these the largest. Nothing follows from a suspicion: an admin flags the agents, or dismisses it.',
    auth: 'admin',
    query: z.object({
      state: z
        .enum(['all', ...STATES])
        .default('all')
        .meta({ about: 'Which ones.' }),
      page,
      limit: listed(20, 100),
    }),
    takesChain: true,
    response: z.object({ rings: z.array(Ring), page: wholeNumber, limit: wholeNumber }).meta({ id: 'Rings' }),
    async handle({ context, chain, query: { state, page, limit } }) {
      const rows = await listRings(context.sql, chain.config.chainId, {
        state: state === 'all' ? undefined : state,
        limit,
        offset: offsetOf({ page, limit }),
      })
      return { rings: rows.map((row) => ringJson(context.recovery, row)), page, limit }
    },
  }),
  route({
    method: 'GET',
    path: '/admin/rings/{ring_id}',
    tag: 'Admin',
    summary: 'A suspected ring with its evidence: members and their agents, shops, who voted for whom',
    auth: 'admin',
    params,
    takesChain: true,
    response: RingCaseShown,
    refusals,
    handle: async ({ context, chain, params }) =>
      caseJson(
        context.recovery,
        await readRing(context)({ chainId: chain.config.chainId, ringId: params.ring_id }),
      ),
  }),
  route({
    method: 'GET',
    path: '/admin/rings/{ring_id}/votes',
    tag: 'Admin',
    summary: 'The votes inside a suspected ring, newest first',
    about: 'By agents that the members still own.',
    auth: 'admin',
    params,
    query: z.object({ page, limit: listed(20, 100) }),
    takesChain: true,
    response: z
      .object({ votes: z.array(RingVote), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'RingVotes' }),
    refusals,
    async handle({ context, chain, params, query: { page, limit } }) {
      const asked = { ringId: params.ring_id, limit, offset: offsetOf({ page, limit }) }
      const rows = await readVotes(context)({ chainId: chain.config.chainId, ...asked })
      return { votes: rows.map((row) => voteJson(context.recovery, row)), page, limit }
    },
  }),
  route({
    method: 'POST',
    path: '/admin/rings/{ring_id}/dismiss',
    tag: 'Admin',
    summary: 'Dismiss a suspicion',
    about: 'The ring does not come back unless it grows by half.',
    auth: 'admin',
    params,
    body: noteBody,
    takesChain: true,
    response: z
      .object({ ring_id: wholeNumber, state: z.literal('dismissed'), dismissed_at: momentShown })
      .meta({ id: 'DismissedRing' }),
    refusals: { ...refusals, 409: 'ring is already dismissed' },
    async handle(call) {
      const { ring_id } = call.params
      const at = await dismiss(call, ring_id, call.body.note)
      return { ring_id: whole(ring_id), state: 'dismissed', dismissed_at: time(at) }
    },
  }),
]
