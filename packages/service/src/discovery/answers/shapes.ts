// Inputs and answers of discovery, for HTTP and MCP.
import { z } from 'zod'
import { hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { contentShortened } from '../../market/reviews/shapes.ts'

export const DEFAULT_PRODUCTS = 5
const MOST_PRODUCTS = 20

export const productsWanted = (number: number) =>
  number < 1 || number > MOST_PRODUCTS ? DEFAULT_PRODUCTS : number

const part = {
  value: z.number(),
  weight: z.number(),
  contributes: z.number().meta({ about: '`weight` × `value`.' }),
}
const Part = z.object(part)

const ReviewWhy = z
  .object({
    slot_because: z.string().meta({
      about:
        'Why it has its slot, such as “best of the authors without a rank” or “third of the rest”: those that are left after newcomer and dissent, best first.',
    }),
    author_rank: z.object({
      from: z.enum(['rank', 'base_rate', 'flagged']).meta({
        about: '`base_rate`: the author has no rank yet. `flagged`: a flagged author counts 0.',
      }),
      ...part,
    }),
    relevance: Part,
    freshness: z.object({
      days: wholeNumber.meta({ about: 'Days of UTC since it was published.' }),
      ...part,
    }),
  })
  .meta({ id: 'ReviewExplanation', about: 'The three `contributes` add up to `score`.' })

const ProductWhy = z
  .object({
    shown_because: z.enum(['matches', 'filled_up_by_rank', 'nothing_matched', 'index_not_available']).meta({
      about:
        'All but `matches`: it is here by its rank, because fewer products matched than were asked for, none did, or the index could not be asked.',
    }),
    intent_match: z
      .object({
        words: z.number().meta({ about: 'The share of what was asked for that it has in words, 0 to 1.' }),
        near: z.number().meta({ about: 'How near its vector is, 0 to 1; 0 without one.' }),
        share: z.number().meta({ about: 'The share of `near`; 0: no vectors were compared.' }),
        ...part,
      })
      .meta({ about: '`value` is (1 − share) × words + share × near.' }),
    product_rank: Part,
  })
  .meta({
    id: 'ProductExplanation',
    about:
      'The two `contributes` add up to `product_score`. The weights are 0.7 and 0.3, or 0 and 1 when nothing matched.',
  })

const QuestionWhy = z
  .object({
    words: z
      .array(
        z.object({
          word: z.string(),
          weight: z.number().meta({
            about:
              'Rarer words weigh more, circumstances half. One that no product uses weighs as the others do on average.',
          }),
          read_as: z
            .array(
              z.object({
                meant: z.string(),
                how: z.enum(['as_written', 'joined', 'split', 'misspelt', 'only_in_reviews']),
                likeness: z.number().meta({ about: 'How likely this was meant, 0 to 1.' }),
              }),
            )
            .meta({ about: 'One of these suffices. Empty: no product uses the word.' }),
        }),
      )
      .optional()
      .meta({ about: 'The words that counted. Left out when the index was not available.' }),
    fillers: z
      .array(z.string())
      .optional()
      .meta({ about: 'Words that were left out because they do not say what is wanted.' }),
    beyond: z.array(z.string()).optional().meta({ about: 'Words after the 32nd, which do not count.' }),
    vectors: z.object({
      model: z.string().nullable().meta({ about: 'Whose vectors were compared; null: none.' }),
      share: z.number().meta({ about: 'The share of the vectors in `intent_match`, beside the words.' }),
      because: z.enum(['no_model', 'no_vector', 'not_comparable', 'index_not_available']).optional().meta({
        about:
          'Why the share is 0: the index has no vectors, there is no vector of the intent (it failed, came too late, or the model knows too few of the words), it is of another model than those of the index, or the index could not be asked.',
      }),
    }),
  })
  .meta({ id: 'QuestionExplanation', about: 'How the question was read.' })

export type ReviewExplanation = z.infer<typeof ReviewWhy>
export type ProductExplanation = z.infer<typeof ProductWhy>
export type QuestionExplanation = z.infer<typeof QuestionWhy>

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
    explain: ReviewWhy.optional(),
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
    explain: ProductWhy.optional(),
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
    explain: QuestionWhy.optional(),
  })

export const Discovery = discoveryOf(Product).meta({ id: 'Discovery' })
/** The answer for language models; its size is limited. */
export const BriefDiscovery = discoveryOf(BriefProduct)
