// Chooses among the products that the marketplace finds, by numbers only: no text of a shop or a reviewer has a say.
import { AttributionToken, RefLink } from '@referrer/protocol'
import { z } from 'zod'
import { printable } from '../printable.ts'
import { Refused } from '../refused.ts'

/** The first choice, and what is bought instead where its shop does not sell. */
export const MOST_CANDIDATES = 4
const LONGEST_NAME = 80
/** Reviews whose scores differ by less are equally good, and the buyer takes the one that gives more back. */
const EQUALLY_GOOD = 0.01
/** Reviews that the marketplace itself does not rely on. */
const UNRELIABLE = 'excluded'

const Found = z.object({
  products: z.array(
    z.object({
      merchant_id: z.int(),
      product_id: z.string(),
      name: z.string(),
      product_score: z.number(),
      sub_scores: z.object({ intent_match: z.number(), product_rank: z.number() }),
      price_usdc: z.int().min(0).optional(),
      reviews: z
        .array(z.object({ slot: z.string(), internal_id: z.int(), ref_link: z.string(), score: z.number() }))
        .nullable(),
    }),
  ),
})
type Product = z.output<typeof Found>['products'][number]

export const Candidate = z.object({
  merchantId: z.int(),
  productId: z.string(),
  /** Without control characters. */
  name: z.string(),
  /** USDC base units when the marketplace last asked; null when unknown. */
  price: z.string().nullable(),
  score: z.number(),
  match: z.number(),
  rank: z.number(),
  /** The review that is bought through, by its internal id, like the others. */
  reviewId: z.int(),
  reviewScore: z.number(),
  /** What the review gives back of its commission, in basis points. */
  cashbackBps: z.int(),
  refLink: z.string(),
  /** Further reviews of the product by others, which may be voted for. */
  others: z.array(z.int()),
})
export type Candidate = z.output<typeof Candidate>

interface Limits {
  /** USDC base units. */
  most: bigint
  /** The agents of the buyer: nobody buys through a link of one's own. */
  own: ReadonlySet<string>
}

/** Best first, and the same for the same answer of `discover_products`. */
export function choose(answer: unknown, limits: Limits): Candidate[] {
  const found = Found.safeParse(answer)
  if (!found.success) throw new Refused('the answer of the marketplace cannot be read; nothing was paid')
  return found.data.products
    .flatMap((product) => candidateOf(product, limits))
    .toSorted(
      (a, b) =>
        b.score - a.score ||
        Number(a.price ?? Number.MAX_VALUE) - Number(b.price ?? Number.MAX_VALUE) ||
        a.merchantId - b.merchantId ||
        (a.productId < b.productId ? -1 : 1),
    )
    .slice(0, MOST_CANDIDATES)
}

function candidateOf(product: Product, { most, own }: Limits): Candidate[] {
  const { price_usdc: price, sub_scores: scores } = product
  // The marketplace fills its answer up with products that do not match at all.
  if (scores.intent_match <= 0) return []
  if (price !== undefined && BigInt(price) > most) return []
  const reviews = (product.reviews ?? [])
    .map((review) => ({ ...review, terms: termsOf(review.ref_link) }))
    .filter(({ terms }) => !own.has(String(terms?.reviewerAgentId)))
  const usable = reviews.filter(({ slot, terms }) => slot !== UNRELIABLE && terms && isOf(product, terms))
  // The marketplace puts the reviews that it recommends first; the scores of other slots are not comparable with theirs.
  const recommended = usable.filter(({ slot }) => slot === usable[0]?.slot)
  const highest = Math.max(...recommended.map(({ score }) => score))
  const [best] = recommended
    .filter(({ score }) => score > highest - EQUALLY_GOOD)
    .toSorted((a, b) => cashbackOf(b) - cashbackOf(a) || b.score - a.score || a.internal_id - b.internal_id)
  if (!best) return []
  return [
    {
      merchantId: product.merchant_id,
      productId: product.product_id,
      name: [...printable(product.name)].slice(0, LONGEST_NAME).join('').trim(),
      price: price === undefined ? null : String(price),
      score: product.product_score,
      match: scores.intent_match,
      rank: scores.product_rank,
      reviewId: best.internal_id,
      reviewScore: best.score,
      cashbackBps: cashbackOf(best),
      refLink: best.ref_link,
      others: reviews.filter((review) => review !== best).map(({ internal_id }) => internal_id),
    },
  ]
}

const cashbackOf = ({ terms }: { terms: AttributionToken.Payload | undefined }) =>
  terms?.cashbackOfCommissionBps ?? 0

/** Undefined when it is no link. The signature is checked before anything is paid. */
function termsOf(refLink: string): AttributionToken.Payload | undefined {
  try {
    return AttributionToken.decodeUnverified(RefLink.parse(refLink).token)
  } catch {
    return undefined
  }
}

const isOf = (product: Product, { merchantId, productId }: AttributionToken.Payload): boolean =>
  merchantId === product.merchant_id && productId.toLowerCase() === product.product_id.toLowerCase()
