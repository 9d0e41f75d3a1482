import { z } from 'zod'
import { hex32, integer, momentShown, optional, wholeNumber } from '../http/fields.ts'
import { type Route, route } from '../http/route.ts'
import { discover } from './operations.ts'

const DEFAULT_PRODUCTS = 5
const MOST_PRODUCTS = 20

const Entry = z
  .object({
    slot: z.enum(['highlight', 'newcomer', 'dissent', 'excluded', 'overflow']),
    excluded_reason: z
      .enum(['self_review', 'transfer_cooldown', 'below ranking threshold'])
      .optional()
      .meta({ about: 'Only of `excluded` and `overflow`.' }),
    internal_id: wholeNumber,
    on_chain_id: wholeNumber.optional(),
    content_json: z.record(z.string(), z.unknown()),
    ref_link: z.string().meta({ about: 'Where to buy through this review; empty when it has no link.' }),
    published_at: momentShown.optional(),
    author_rank: z
      .number()
      .meta({ about: 'For products of this type; before there is evidence, where ranks begin.' }),
    relevance: z
      .number()
      .meta({ about: 'How much it is about the intent, from 0 to 1; 0 when nobody can tell.' }),
    score: z.number().meta({ about: '0.5 × `author_rank` + 0.35 × `relevance` + 0.15 × freshness.' }),
  })
  .meta({ id: 'SlateEntry' })

const Product = z
  .object({
    merchant_id: wholeNumber,
    chain_id: wholeNumber,
    product_id: hex32,
    name: z.string(),
    product_score: z.number().meta({
      about: '0.7 × `intent_match` + 0.3 × `product_rank`; when nothing matches the intent, `product_rank`.',
    }),
    sub_scores: z.object({ intent_match: z.number(), product_rank: z.number() }),
    price_usdc: wholeNumber
      .optional()
      .meta({ about: 'What its endpoint last asked for; left out when unknown.' }),
    review_count: wholeNumber.meta({ about: 'Published reviews, shown or not.' }),
    mean_author_rank: z.number().optional().meta({ about: 'Left out when no author has a rank.' }),
    category: z.string().optional().meta({ about: 'Left out when it has none.' }),
    reviews: z.array(Entry).nullable().meta({
      about: 'Highlights, newcomer, dissent, then excluded ones, then overflow. Null: nothing to show.',
    }),
  })
  .meta({ id: 'DiscoveredProduct' })

const Discovery = z
  .object({
    products: z.array(Product).meta({ about: 'Best first.' }),
    coverage: z
      .literal('thin')
      .optional()
      .meta({ about: 'The products have fewer than three published reviews together.' }),
    checklists: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .meta({ about: 'What to look at in the categories of the products, where somebody wrote that.' }),
  })
  .meta({ id: 'Discovery' })

/** An integer from 0 up; whatever else is sent counts as nothing. */
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
    about: 'In USDC base units: what is known to cost more is left out. Ignored when it cannot be read.',
    shown: { type: 'integer', minimum: 0 },
  })

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
          about: 'What you want, in words. The first 1,000 characters are looked at.',
          shown: { type: 'string', minLength: 1, examples: ['weather forecast for a city'] },
        }),
      category: optional(z.string().meta({ about: 'Only products of exactly this category.' })),
      price_ceiling: ceiling,
      max_products: integer(DEFAULT_PRODUCTS, 'How many, 1 to 20; anything else is 5.', (number) =>
        number < 1 || number > MOST_PRODUCTS ? DEFAULT_PRODUCTS : number,
      ),
      include_all: z
        .any()
        .optional()
        .transform((value) => value === 'true')
        .meta({
          about: 'Exactly `true`: also reviews below the others, as `overflow`.',
          shown: { type: 'string', default: 'false' },
        }),
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
      }),
  }),
]
