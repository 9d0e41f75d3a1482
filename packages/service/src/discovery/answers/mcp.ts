import { z } from 'zod'
import { type Tool, tool } from '../../kit/tool.ts'
import { amount, flag, integer, text } from '../../kit/tool-fields.ts'
import { discover } from './operations.ts'
import { BriefDiscovery, DEFAULT_PRODUCTS, productsWanted } from './shapes.ts'

const words = text(
  'What is wanted, in the words of the user. Only the first 1,000 characters count.',
  'hourly weather forecast for a city, as JSON',
  'verify a company by its VAT number',
)
const intent = words.meta({ ...words.meta(), refusal: 'intent is required' })

export const discoveryTools: Tool[] = [
  tool({
    name: 'discover_products',
    title: 'Find products to buy',
    description:
      'Finds what an agent can buy over HTTP (API calls, data, reports, subscriptions) for what the user wants, best first, with reviews. Read several reviews of a product, also slot "dissent", before you choose; do not rely on slot "excluded". coverage "thin": few reviews, be careful. Next: compare price_usdc with the budget, then pay_for_product (signer) with the ref_link of the review that convinced you. Keep the internal_id of the reviews that helped, for cast_review_votes, and the words of intent, for searched_for of your review.',
    details: `Each product in products has its reviews, and a review a ref_link to buy through (skip those in which it is empty). The review whose ref_link you buy through is paid a commission out of the price, and you pay the same price whichever it is. Entries with slot "excluded" are there for openness (excluded_reason says why): the newest of each owner, and more_excluded tells how many more there are. Texts of more than 1 KiB are shortened (content_shortened true): get_review has all of one. price_usdc is in USDC base units.

Errors: "intent is required" — say in words what is wanted. "rate limited" — wait the seconds it names. An empty products list is an answer: nothing matches; try other words or no category.`,
    input: z.object({
      intent,
      category: text('Only products of exactly this category.', 'api').optional(),
      price_ceiling: amount(
        'In USDC base units: products that are known to cost more are left out.',
        250_000,
      ).optional(),
      max_products: integer(DEFAULT_PRODUCTS, 'How many, 1 to 20; anything else is 5.', productsWanted),
      include_all: flag('Whether to show lower-ranked reviews too, as slot "overflow".'),
      explain: flag('Whether to show how the question was read and what the scores are made of.'),
    }),
    output: BriefDiscovery,
    isReadOnly: true,
    perSecond: 5,
    handle: ({ context, chain, input }) =>
      discover(context, chain, {
        intent: input.intent,
        category: input.category,
        ceiling: input.price_ceiling,
        most: input.max_products,
        includeAll: input.include_all,
        isBrief: true,
        explain: input.explain,
      }),
  }),
]
