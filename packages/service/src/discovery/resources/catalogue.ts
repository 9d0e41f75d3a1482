// A catalogue of x402 resources, as facilitators keep them.
import type { Address } from 'viem'
import type { Context } from '../../kit/context.ts'
import { fieldsOf, jsonOf, listOf } from '../../kit/loose-json.ts'
import { readBody } from '../../kit/read-body.ts'
import { type Found, readEntry } from './entry.ts'

/** Some know the first, which lists what pays an address; others the second, which filters; some have both and filter nothing. */
const PATHS = ['/discovery/merchant', '/discovery/resources']
/** For each of them. */
const PATIENCE_MS = 1_250
const PAGES = 3
const PAGE_SIZE = 100
const MOST_BYTES = 2 * 1024 * 1024

/** What can be paid to an address, or is found under it and is paid to one of `also`. Never throws: what does not answer has nothing. */
export async function askCatalogue(
  { config, fetch, log }: Pick<Context, 'config' | 'fetch' | 'log'>,
  payTo: Address,
  also: readonly Address[],
): Promise<Found[]> {
  if (config.catalogueUrl === undefined) return []
  const payees = [payTo, ...also].map((address) => address.toLowerCase())
  for (const path of PATHS) {
    const found: Found[] = []
    try {
      const url = new URL(`${config.catalogueUrl}${path}`)
      url.searchParams.set('payTo', payTo)
      await readPages(fetch, url, payees, found)
    } catch (err) {
      log.debug({ err, path }, 'the catalogue did not answer')
    }
    if (found.length > 0) return found
  }
  return []
}

/** What was read before something failed is there. `payees`: whose resources are asked for, then who else may be paid for them. */
async function readPages(
  fetch: Context['fetch'],
  url: URL,
  payees: readonly string[],
  found: Found[],
): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  url.searchParams.set('limit', String(PAGE_SIZE))
  for (let page = 0, offset = 0; page < PAGES; page += 1) {
    url.searchParams.set('offset', String(offset))
    const { entries, total } = await readPage(fetch, url, signal)
    offset += entries.length
    const read = entries.flatMap((entry) => readEntry(entry) ?? [])
    // Whoever names what others are paid for does not filter, and is believed no more than it says.
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
