import { ReferrerError } from './error.ts'
import { LISTINGS } from './generated/routes.ts'
import type { Call, Request } from './transport.ts'
import type { ListingPath } from './types.ts'

/** A listing that has not ended after so many pages never will. */
const MOST_PAGES = 10_000

/** All entries of a listing, page after page. */
export async function* entriesOf(
  call: Call,
  path: ListingPath,
  { params = {}, most = Number.POSITIVE_INFINITY, ...request }: Request & { most?: number } = {},
): AsyncGenerator<unknown, void> {
  const listing = LISTINGS[path]
  const { [listing.by]: start, limit: wanted = listing.most, ...query } = params.query ?? {}
  const limit = Math.max(1, Math.min(Number(wanted), listing.most, most))
  let position = Number(start ?? (listing.by === 'page' ? 1 : 0))
  let seen = 0

  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await call('get', path, {
      ...request,
      params: { ...params, query: { ...query, limit, [listing.by]: position } },
    })
    const { entries, isLast } = readPage(path, answer, limit)
    for (const entry of entries) {
      if (seen++ === most) return
      yield entry
    }
    if (isLast || seen >= most) return
    position += listing.by === 'page' ? 1 : entries.length
  }
  throw new ReferrerError(`GET ${path}`, { reason: `the listing has not ended after ${MOST_PAGES} pages` })
}

function readPage(
  path: ListingPath,
  answer: unknown,
  limit: number,
): { entries: unknown[]; isLast: boolean } {
  const { by, items } = LISTINGS[path]
  const page = (answer ?? {}) as Record<string, unknown>
  const entries = page[items]
  if (!Array.isArray(entries)) {
    throw new ReferrerError(`GET ${path}`, { reason: `the answer has no list of ${items}` })
  }
  // Where the question names one product or one owner, the answer is all there is, whatever was asked for.
  const isWhole = by === 'page' && page.page !== undefined ? entries.length === page.total : by === 'page'
  return { entries, isLast: isWhole || entries.length < limit }
}
