// Makes listings of products from the records as they are now.

import type { Transaction } from '@referrer/database'
import type { ProductOfChain } from '../../kit/keys.ts'
import { evidenceOf } from './evidence.ts'
import { searchesOf } from './searches.ts'
import { type HeardSearch, searchesHeard } from './searches-store.ts'
import {
  contentsOf,
  type Listing,
  type Look,
  type ShortlistedRow,
  type StandingRow,
  shortlistsOf,
  standingsOf,
  writeListings,
} from './store.ts'

/** Words are taken from at most this many reviews. */
const MOST_REVIEWS = 20

export const nameOf = ({ merchantId, productId }: ProductOfChain) =>
  `${merchantId}/${productId.toString('hex')}`

/**
 * Updates the listings of products; each product is named once. Writes a listing if it differs or if `isTouched` says
 * so. Returns the products that have a listing. A product that has left the records keeps a closed, empty listing, so
 * that the search indexes learn that it is gone.
 */
export async function makeListings(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
  look: Look,
  isTouched: (product: ProductOfChain) => boolean,
): Promise<ProductOfChain[]> {
  if (products.length === 0) return []
  const standings = await standingsOf(tx, chainId, products)
  const known = standings.filter(({ is_known }) => is_known)
  const shortlisted = Map.groupBy(await shortlistsOf(tx, chainId, known.map(keyOf), look), ({ at }) => at)
  const searched = Map.groupBy(await searchesHeard(tx, chainId, known.map(keyOf)), ({ at }) => at)
  const reviews = new Map(known.map((standing, at) => [standing, shortlisted.get(at) ?? []]))
  const searches = new Map(known.map((standing, at) => [standing, searched.get(at) ?? []]))
  const contents = await contentsOf(
    tx,
    [...reviews.values()].flatMap(heardOf).map(({ internal_id }) => internal_id),
  )
  const made = standings.map((standing) => ({
    standing,
    listing: listingOf(standing, reviews.get(standing), contents, searches.get(standing) ?? []),
  }))
  const written = made.filter(
    ({ standing, listing }) => isTouched(keyOf(standing)) || differs(listing, standing),
  )
  await writeListings(
    tx,
    chainId,
    written.map(({ standing, listing }) => ({ ...keyOf(standing), ...listing })),
  )
  return standings.map(keyOf)
}

const keyOf = ({ merchant_id, product_id }: StandingRow): ProductOfChain => ({
  merchantId: merchant_id,
  productId: product_id,
})

const GONE: Listing = { isOpen: false, reviewCount: 0, shortlist: [], evidence: '', searches: '' }

function listingOf(
  { is_open, review_count }: StandingRow,
  reviews: readonly ShortlistedRow[] | undefined,
  contents: ReadonlyMap<bigint, string>,
  searches: readonly HeardSearch[],
): Listing {
  if (!reviews) return GONE
  const voices = heardOf(reviews).map(({ internal_id, agent_id, author_owner }) => ({
    owner: author_owner?.toString('hex') ?? `agent ${agent_id}`,
    content: contents.get(internal_id) ?? '',
  }))
  return {
    isOpen: is_open,
    reviewCount: review_count,
    shortlist: reviews.map(({ internal_id }) => internal_id),
    evidence: evidenceOf(voices),
    searches: searchesOf(
      searches.map(({ owner, words, is_trusted }) => ({
        owner: owner.toString('hex'),
        words: words.split(' '),
        isTrusted: is_trusted,
      })),
    ),
  }
}

const heardOf = (reviews: readonly ShortlistedRow[]): ShortlistedRow[] =>
  reviews
    .filter(({ is_heard }) => is_heard)
    .sort((a, b) => a.place - b.place)
    .slice(0, MOST_REVIEWS)

function differs(
  { isOpen, reviewCount, shortlist, evidence, searches }: Listing,
  listed: StandingRow,
): boolean {
  return (
    listed.listed_open !== isOpen ||
    listed.listed_count !== reviewCount ||
    listed.listed_evidence !== evidence ||
    listed.listed_searches !== searches ||
    listed.listed_shortlist.join() !== shortlist.join()
  )
}
