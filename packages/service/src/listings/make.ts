// Makes listings of products from the records as they are.
import type { Transaction } from '@referrer/database'
import { evidenceOf } from './evidence.ts'
import {
  contentsOf,
  type Listing,
  type Look,
  type ProductKey,
  type ShortlistedRow,
  type StandingRow,
  shortlistsOf,
  standingsOf,
  writeListings,
} from './store.ts'

/** Words are taken from so many reviews. */
const HEARD = 20

export const nameOf = ({ merchantId, productId }: ProductKey) => `${merchantId}/${productId.toString('hex')}`

/**
 * Brings the listings of products, each named once, to the present. Written is what differs, and what `isTouched` although nothing of the
 * listing itself differs. Returns the products that there are. A product that has left the records keeps its listing, closed, so that whoever
 * follows the listings learns of it.
 */
export async function makeListings(
  tx: Transaction,
  chainId: number,
  products: readonly ProductKey[],
  look: Look,
  isTouched: (product: ProductKey) => boolean,
): Promise<ProductKey[]> {
  if (products.length === 0) return []
  const standings = await standingsOf(tx, chainId, products)
  const known = standings.map(({ merchant_id, product_id }) => ({
    merchantId: merchant_id,
    productId: product_id,
  }))
  const shortlisted = Map.groupBy(await shortlistsOf(tx, chainId, known, look), ({ at }) => at)
  const heard = known.map((_, at) => heardOf(shortlisted.get(at) ?? []))
  const contents = await contentsOf(
    tx,
    heard.flat().map(({ internal_id }) => internal_id),
  )
  const made = known.map((product, at) => ({
    ...product,
    isOpen: standings[at]?.is_open ?? false,
    reviewCount: standings[at]?.review_count ?? 0,
    shortlist: (shortlisted.get(at) ?? []).map(({ internal_id }) => internal_id),
    evidence: evidenceOf(
      (heard[at] ?? []).map(({ internal_id, agent_id, author_owner }) => ({
        owner: author_owner?.toString('hex') ?? `agent ${agent_id}`,
        content: contents.get(internal_id) ?? '',
      })),
    ),
  }))
  await writeListings(
    tx,
    chainId,
    made.filter((listing, at) => isTouched(listing) || differs(listing, standings[at])),
  )
  return known
}

const heardOf = (reviews: readonly ShortlistedRow[]): ShortlistedRow[] =>
  reviews
    .filter(({ is_heard }) => is_heard)
    .sort((a, b) => a.place - b.place)
    .slice(0, HEARD)

function differs({ isOpen, reviewCount, shortlist, evidence }: Listing, listed?: StandingRow): boolean {
  return (
    listed === undefined ||
    listed.listed_open !== isOpen ||
    listed.listed_count !== reviewCount ||
    listed.listed_evidence !== evidence ||
    listed.listed_shortlist.join() !== shortlist.join()
  )
}
