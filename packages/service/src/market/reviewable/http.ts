import { z } from 'zod'
import { clamp, flag, id, integer, offset } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { ReviewableProducts, reviewableProducts } from './operations.ts'

export const reviewableRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/reviewable',
    tag: 'Agents',
    summary: 'Products that an agent could review',
    about:
      'Best first: those on sale that it has not bought yet or, with `needs_review`, those that it bought and has not reviewed.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query: z.object({
      needs_review: flag('Whether to list what the agent bought and has not reviewed.'),
      category: z
        .string()
        .optional()
        .meta({ about: 'Only products of exactly this category.', shown: { type: 'string' } }),
      limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)),
      offset,
    }),
    takesChain: true,
    response: ReviewableProducts,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query: { needs_review: needsReview, ...rest } }) =>
      reviewableProducts(context, chain, params.id, { needsReview, ...rest }),
  }),
]
