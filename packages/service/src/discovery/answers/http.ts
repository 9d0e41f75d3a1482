import { z } from 'zod'
import { integer, optional } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { discover } from './operations.ts'
import { DEFAULT_PRODUCTS, Discovery, productsWanted } from './shapes.ts'

/** A non-negative integer; anything else is ignored. */
const ceiling = z
  .union([
    z
      .string()
      .regex(/^\d{1,16}$/)
      .transform(Number)
      .refine((number) => Number.isSafeInteger(number)),
    z.any().transform(() => undefined),
  ])
  .optional()
  .meta({
    about: 'In USDC base units: products known to cost more are left out. Ignored if it is invalid.',
    shown: { type: 'integer', minimum: 0 },
  })

/** Anything but `true` is ignored. */
const exactlyTrue = (about: string) =>
  z
    .any()
    .optional()
    .transform((value) => value === 'true')
    .meta({ about, shown: { type: 'string', default: 'false' } })

export const discoveryRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/discover',
    tag: 'Discovery',
    summary: 'Find products by what you want, each with reviews to buy through',
    auth: 'none',
    perSecond: 5,
    query: z.object({
      intent: z
        .string()
        .min(1)
        .meta({
          refusal: 'intent is required',
          about: 'What you want, in words. Only the first 1,000 characters count.',
          shown: { type: 'string', minLength: 1, examples: ['weather forecast for a city'] },
        }),
      category: optional(z.string().meta({ about: 'Only products of exactly this category.' })),
      price_ceiling: ceiling,
      max_products: integer(DEFAULT_PRODUCTS, 'How many, 1 to 20; anything else is 5.', productsWanted),
      include_all: exactlyTrue('Exactly `true`: also the lower-ranked reviews, as `overflow`.'),
      explain: exactlyTrue('Exactly `true`: also how the question was read, and the parts of all scores.'),
    }),
    takesChain: true,
    response: Discovery,
    handle: ({ context, chain, query }) =>
      discover(context, chain, {
        intent: query.intent,
        category: query.category || undefined,
        ceiling: query.price_ceiling,
        most: query.max_products,
        includeAll: query.include_all,
        isBrief: false,
        explain: query.explain,
      }),
  }),
]
