import { ReferrerError } from './error.ts'
import { LISTINGS } from './generated/routes.ts'
import type { AnyRequest, Call, ListingPath } from './types.ts'

/** A listing that has not ended after so many pages never will. */
const MOST_PAGES = 10_000

/** All entries of a listing, page after page. */
export async function* entriesOf(
  call: Call,
  path: ListingPath,
  { params = {}, most = Number.POSITIVE_INFINITY, ...request }: AnyRequest & { most?: number } = {},
): AsyncGenerator<unknown, void> {
  const listing = LISTINGS[path]
  const { [listing.by]: start, limit: wanted = listing.most, ...query } = params.query ?? {}
  const limit = Math.max(1, Math.min(Number(wanted), listing.most, most))
  let position = Number(start ?? (listing.by === 'page' ? 1 : 0))
  let seen = 0

  if (most <= 0) return
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await call('get', path, {
      ...request,
      params: { ...params, query: { ...query, limit, [listing.by]: position } },
    })
    const { entries, isLast } = readPage(path, answer, { position, limit })
    for (const entry of entries) {
      yield entry
      if (++seen === most) return
    }
    if (isLast) return
    position += listing.by === 'page' ? 1 : entries.length
  }
  throw new ReferrerError(`GET ${path}`, { reason: `the listing has not ended after ${MOST_PAGES} pages` })
}

function readPage(
  path: ListingPath,
  answer: unknown,
  { position, limit }: { position: number; limit: number },
): { entries: unknown[]; isLast: boolean } {
  const { by, items } = LISTINGS[path]
  const { [items]: entries, page, total, has_more } = (answer ?? {}) as Record<string, unknown>
  if (!Array.isArray(entries)) {
    throw new ReferrerError(`GET ${path}`, { reason: `the answer has no list of ${items}` })
  }
  if (typeof has_more === 'boolean') return { entries, isLast: !has_more }
  if (entries.length < limit || by === 'offset') return { entries, isLast: entries.length < limit }
  // The reviews of one product have no pages, the agents of one owner all come with the first: the answer is all there is.
  const isWhole = page === undefined || (position - 1) * limit + entries.length >= Number(total)
  return { entries, isLast: isWhole }
}
