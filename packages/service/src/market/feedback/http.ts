import { z } from 'zod'
import { account, clamp, id, integer, optional, page } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { FeedbackList, feedbackFile, feedbackOf, LIMIT, MOST } from './operations.ts'

const ABOUT =
  'What anybody left in the ERC-8004 reputation registry of the network, newest first: the newest 20 of each client and 500 in all, texts shortened. It is shown and counts for nothing: ranks, standings and discovery rest on purchases here.'

const query = z.object({
  client: optional(account('invalid client address', 'Only the feedback of this wallet.')),
  page,
  limit: integer(LIMIT, `How many, 1 to ${MOST}.`, clamp(1, MOST)),
})

export const feedbackRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/feedback',
    tag: 'Agents',
    summary: 'ERC-8004 feedback about an agent',
    about: ABOUT,
    auth: 'none',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query,
    takesChain: true,
    response: FeedbackList,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      feedbackOf(context, chain, { ...query, agentId: params.id, isMerchant: false }),
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/feedback',
    tag: 'Merchants',
    summary: 'ERC-8004 feedback about a merchant',
    about: ABOUT,
    auth: 'none',
    params: z.object({ id: id(0, 'invalid merchant id', 'The merchant.') }),
    query,
    takesChain: true,
    response: FeedbackList,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      feedbackOf(context, chain, { ...query, agentId: params.id, isMerchant: true }),
  }),
  route({
    method: 'GET',
    path: '/v1/review/{id}/feedback',
    tag: 'Reviews',
    summary: 'A review of a purchase as an ERC-8004 feedback file',
    about:
      'What `feedbackURI` points to when the author mirrors the review; the keccak256 of these bytes is `feedbackHash`. They change only when the author edits the review.',
    auth: 'none',
    params: z.object({ id: id(1, 'invalid review id', 'The id on the chain.') }),
    takesChain: true,
    response: z
      .object({
        agentRegistry: z.string(),
        agentId: z.int(),
        clientAddress: z.string(),
        createdAt: z.string(),
        value: z.int(),
        valueDecimals: z.int(),
        tag1: z.string(),
        tag2: z.string(),
        proofOfPayment: z.record(z.string(), z.string()),
        review: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'FeedbackFile' }),
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) => feedbackFile(context, chain, params.id),
  }),
]
