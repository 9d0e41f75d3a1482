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
    description: `Finds products for what somebody wants, best first, each with what reviewers say of it. Use it when the user wants to buy or compare something that an agent can buy over HTTP: an API call, a data set, a report, a subscription.

A review carries a ref_link to buy through (skip those in which it is empty). Read several reviews of a product, the slot "dissent" too, before you choose one; the review whose ref_link you buy through is paid a commission out of the price, and you pay the same price whichever it is. Entries with slot "excluded" are there for openness (excluded_reason says why) and should not be relied on: the newest of each owner, and more_excluded tells how many more there are. Texts of more than 1 KiB are shortened (content_shortened true): get_review has all of one. coverage "thin" means that few people have reviewed these products: be careful.

Next: compare price_usdc (USDC base units, 1000000 = 1 USDC) with the budget, then pay_for_product of the signer with the ref_link. Keep the internal_id of every review that informed the choice: after buying you vote on them with cast_review_votes.

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
      }),
  }),
]
