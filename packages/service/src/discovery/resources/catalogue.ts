// Reads a catalogue of x402 resources, as facilitators publish them.
import type { Address } from 'viem'
import type { Context } from '../../kit/context.ts'
import { fieldsOf, jsonOf, listOf } from '../../kit/loose-json.ts'
import { readBody } from '../../kit/read-body.ts'
import { type Found, readEntry } from './entry.ts'

/**
 * Some catalogues have the first path, which lists the resources of an address; others the second, with a filter;
 * some have both and ignore the filter.
 */
const PATHS = ['/discovery/merchant', '/discovery/resources']
/** Time limit for each path, unless the chain has another one. */
const TIMEOUT_MS = 1_250
const PAGES = 3
const PAGE_SIZE = 100
const MOST_BYTES = 2 * 1024 * 1024

/**
 * The resources that pay `payTo`, or that are listed under it and pay one of `also`. Never throws: a catalogue that
 * does not answer gives an empty list.
 */
export async function askCatalogue(
  { config, fetch, log }: Pick<Context, 'config' | 'fetch' | 'log'>,
  payTo: Address,
  also: readonly Address[],
  timeoutMs = TIMEOUT_MS,
): Promise<Found[]> {
  if (config.catalogueUrl === undefined) return []
  const payees = [payTo, ...also].map((address) => address.toLowerCase())
  for (const path of PATHS) {
    const found: Found[] = []
    try {
      const url = new URL(`${config.catalogueUrl}${path}`)
      url.searchParams.set('payTo', payTo)
      await readPages(fetch, url, payees, found, timeoutMs)
    } catch (err) {
      log.debug({ err, path }, 'the catalogue did not answer')
    }
    if (found.length > 0) return found
  }
  return []
}

/**
 * Adds to `found`, so that the pages read before a failure are kept. `payees` begins with the address that was asked
 * for; the others are also accepted.
 */
async function readPages(
  fetch: Context['fetch'],
  url: URL,
  payees: readonly string[],
  found: Found[],
  timeoutMs: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs)
  url.searchParams.set('limit', String(PAGE_SIZE))
  for (let page = 0, offset = 0; page < PAGES; page += 1) {
    url.searchParams.set('offset', String(offset))
    const { entries, total } = await readPage(fetch, url, signal)
    offset += entries.length
    const read = entries.flatMap((entry) => readEntry(entry) ?? [])
    // If a page contains resources of other payees, the catalogue ignores the filter; then only entries that name the
    // address itself are used.
    const isFiltered = read.every(({ payees: named }) => named.length === 0 || pays(named, payees))
    found.push(...(isFiltered ? read : read.filter(({ payees: named }) => pays(named, payees.slice(0, 1)))))
    if (!isFiltered || entries.length === 0 || offset >= total) return
  }
}

const pays = (named: readonly string[], payees: readonly string[]) =>
  named.some((payee) => payees.includes(payee))

async function readPage(fetch: Context['fetch'], url: URL, signal: AbortSignal) {
  const response = await fetch(url.href, { headers: { accept: 'application/json' }, signal })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the answer has status ${response.status}`)
  }
  const body = await readBody(response, MOST_BYTES)
  if (!body) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
  const { items, resources, pagination } = fieldsOf(jsonOf(body))
  const entries = listOf(items ?? resources)
  const { total } = fieldsOf(pagination)
  const isLast = entries.length < PAGE_SIZE
  return { entries, total: typeof total === 'number' ? total : isLast ? 0 : Number.POSITIVE_INFINITY }
}
