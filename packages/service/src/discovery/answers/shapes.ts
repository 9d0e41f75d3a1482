// Inputs and answers of discovery, for HTTP and MCP.
import { z } from 'zod'
import { hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { contentShortened } from '../../market/reviews/shapes.ts'

export const DEFAULT_PRODUCTS = 5
const MOST_PRODUCTS = 20

export const productsWanted = (number: number) =>
  number < 1 || number > MOST_PRODUCTS ? DEFAULT_PRODUCTS : number

const Entry = z
  .object({
    slot: z.enum(['highlight', 'newcomer', 'dissent', 'excluded', 'overflow']),
    excluded_reason: z
      .enum(['self_review', 'transfer_cooldown', 'below ranking threshold'])
      .optional()
      .meta({ about: 'Only with `excluded` and `overflow`.' }),
    internal_id: wholeNumber,
    on_chain_id: wholeNumber.optional(),
    content_json: z.record(z.string(), z.unknown()),
    content_shortened: contentShortened,
    ref_link: z.string().meta({ about: 'Where to buy through this review; empty when it has no link.' }),
    published_at: momentShown.optional(),
    author_rank: z.number().meta({
      about: 'The rank of the author for products of this type; before there is evidence, the base rate.',
    }),
    relevance: z.number().meta({ about: 'How well it matches the intent, from 0 to 1; 0 if unknown.' }),
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
      .meta({ about: 'What its endpoint last asked for, in USDC base units; left out when unknown.' }),
    review_count: wholeNumber.meta({ about: 'Published reviews, shown or not.' }),
    mean_author_rank: z.number().optional().meta({ about: 'Left out when no author has a rank.' }),
    category: z.string().optional().meta({ about: 'Left out when it has none.' }),
    reviews: z.array(Entry).nullable().meta({
      about: 'Highlights, newcomer, dissent, then excluded ones, then overflow. Null: nothing to show.',
    }),
  })
  .meta({ id: 'DiscoveredProduct' })

const BriefProduct = Product.extend({
  more_excluded: wholeNumber.optional().meta({
    about: 'How many further reviews are excluded: of each owner the newest is shown. Left out: none.',
  }),
  more_overflow: wholeNumber
    .optional()
    .meta({ about: 'How many more reviews are in the overflow. Left out: none.' }),
})

const discoveryOf = <T extends z.ZodType>(product: T) =>
  z.object({
    products: z.array(product).meta({ about: 'Best first.' }),
    coverage: z
      .literal('thin')
      .optional()
      .meta({ about: 'The products have fewer than three published reviews together.' }),
    checklists: z.record(z.string(), z.array(z.string())).optional().meta({
      about: 'What to check in the categories of the products, where an admin has written a checklist.',
    }),
  })

export const Discovery = discoveryOf(Product).meta({ id: 'Discovery' })
/** The answer for language models; its size is limited. */
export const BriefDiscovery = discoveryOf(BriefProduct)
