// What a merchant sells by x402, here and elsewhere, from catalogues and from its own hosts.
import { createTurns, parseWebUrl, siteOf } from '@referrer/net'
import { createCache, type Limiter } from '@referrer/process'
import { type Address, getAddress, isAddress } from 'viem'
import type { z } from 'zod'
import { type Chain, type Context, oncePerProcess } from '../../kit/context.ts'
import { address, hex, whole } from '../../kit/json-values.ts'
import { MarketError, RateLimited } from '../../kit/market-error.ts'
import { payoutOf } from '../../market/merchants/json.ts'
import { notFound } from '../../market/merchants/refusals.ts'
import { findMerchant } from '../../market/merchants/store.ts'
import { askCatalogue } from './catalogue.ts'
import { type Found, nameOf } from './entry.ts'
import { readManifests } from './manifest.ts'
import type { Discovered, Item as ItemShape } from './shapes.ts'
import { type EndpointRow, endpointsOf } from './store.ts'

export const MOST_PAY_TOS = 10
const MOST_HOSTS = 5
const MOST_ITEMS = 300
const MOST_BYTES = 2 * 1024 * 1024
const KEPT_MS = 30_000
/** Limit of concurrent requests to catalogues and hosts, whatever the number of our callers; of each no more than its share. */
const AT_ONCE = 64
const OF_ONE = { client: 8, host: 2, site: 8 }
/** Addresses that a client may have searched besides those of merchants: the catalogue is asked for each. */
const ADDRESSES = { perSecond: 5, burst: 10 }
const LONGEST_WAIT_MS = 400

type Item = z.output<typeof ItemShape>

const sourcesOf = oncePerProcess((context) => {
  const ask = createCache<{ name: string; of: () => Promise<Found[] | undefined> }, Found[] | undefined>({
    keyOf: ({ name }) => name,
    load: ({ of }) => of(),
    ttlMs: (found) => (found ? KEPT_MS : 0),
    clock: context.clock,
    max: 1_000,
    maxBytes: 16 * 1024 * 1024,
    bytesOf: (found = []) => found.reduce((sum, { bytes }) => sum + bytes, 0),
  })
  const inCatalogue = turnsOf()
  const onHosts = turnsOf()
  return {
    limiter: context.limits.limiter('addresses searched', ADDRESSES),
    catalogue: ({ config: { chainId, contracts }, optionalReadMs }: Chain, payTo: Address, client: string) =>
      ask({
        name: `${chainId}/${payTo}`,
        of: () =>
          inCatalogue({ client }, () => askCatalogue(context, payTo, contracts.SplitRouter, optionalReadMs)),
      }),
    manifests: ({ optionalReadMs }: Chain, origin: string) =>
      ask({
        name: origin,
        of: () => {
          const url = new URL(origin)
          const whom = { host: url.host, site: siteOf(url) }
          return onHosts(whom, () => readManifests(context, origin, optionalReadMs))
        },
      }),
  }
})

/** Undefined: it waited too long for its turn and was not asked. */
function turnsOf() {
  const turn = createTurns(AT_ONCE, OF_ONE)
  return (
    whom: Parameters<typeof turn.hasRoom>[0],
    ask: () => Promise<Found[]>,
  ): Promise<Found[] | undefined> => {
    const since = performance.now()
    return turn(async () => (performance.now() - since > LONGEST_WAIT_MS ? undefined : ask()), whom)
  }
}

async function spend(limiter: Limiter, client: string, addresses: number): Promise<void> {
  const waitSeconds = addresses > 0 ? await limiter(client, addresses) : 0
  if (waitSeconds > 0) throw new RateLimited('too many pay_to addresses at once', Math.ceil(waitSeconds))
}

/** A source that does not answer within a few seconds is left out, as if it had nothing. */
export async function discoverResources(
  context: Context,
  chain: Chain,
  { merchantId, payTos: given, client }: { merchantId: bigint; payTos: readonly string[]; client: string },
): Promise<z.output<typeof Discovered>> {
  const asked = given.length > MOST_PAY_TOS ? tooMany() : given.map(readAddress)
  const sources = sourcesOf(context)
  await spend(sources.limiter, client, asked.length)
  const { config } = chain
  const { chainId } = config
  const [merchant, endpoints] = await Promise.all([
    findMerchant(context.sql, chainId, merchantId),
    endpointsOf(context.sql, chainId, merchantId),
  ])
  if (!merchant) throw notFound()
  const own = [payoutOf(merchant), merchant.owner].map((bytes) => address(context.recovery, bytes))
  const payTos = [...new Set([...asked, ...own])]
  const origins = originsOf([merchant.landing_page_url, ...endpoints.map(({ endpoint_url }) => endpoint_url)])

  const [listed, told] = await Promise.all([
    Promise.all(payTos.map((payTo) => sources.catalogue(chain, payTo, client))),
    Promise.all(origins.map((origin) => sources.manifests(chain, origin))),
  ])
  const shown = showing(config, endpoints)
  const found = new Map<string, { item: Item; bytes: number }>()
  const add = (resource: Found, payTo: Address | '') => {
    if (!found.has(resource.name)) {
      found.set(resource.name, { item: shown(resource, payTo), bytes: resource.bytes })
    }
  }
  payTos.forEach((payTo, at) => {
    for (const resource of listed[at] ?? []) add(resource, payTo)
  })
  for (const resource of told.flatMap((resources) => resources ?? [])) add(resource, '')
  return {
    merchant_id: whole(merchantId),
    chain_id: chainId,
    pay_tos: payTos,
    items: upTo([...found.values()]),
  }
}

function tooMany(): never {
  throw new MarketError('invalid input', 'too many pay_to values')
}

function readAddress(text: string): Address {
  if (!isAddress(text, { strict: false })) throw new MarketError('invalid input', 'invalid pay_to')
  return getAddress(text)
}

const originsOf = (urls: readonly (string | null)[]): string[] =>
  [...new Set(urls.flatMap((url) => (url && parseWebUrl(url)?.origin) || []))].slice(0, MOST_HOSTS)

function showing({ contracts }: Chain['config'], endpoints: readonly EndpointRow[]) {
  const routers = new Set(contracts.SplitRouter.map((router) => router.toLowerCase()))
  const products = new Map<string, Buffer>()
  for (const { endpoint_url, product_id } of endpoints) {
    const name = nameOf(endpoint_url)
    if (name !== undefined && !products.has(name)) products.set(name, product_id)
  }
  return ({ name, resource, payees, described }: Found, payTo: Address | ''): Item => {
    const productId = products.get(name)
    const isReferral = [payTo.toLowerCase(), ...payees].some((payee) => routers.has(payee as Address))
    return {
      resource,
      pay_to: payTo,
      source: payTo === '' ? 'manifest' : 'catalogue',
      status: isReferral ? 'referral_mode' : productId ? 'published' : 'discoverable',
      ...(productId && { product_id: hex(productId) }),
      ...described,
    }
  }
}

/** The first items that fit into the size limit of an answer. */
function upTo(found: readonly { item: Item; bytes: number }[]): Item[] {
  const items: Item[] = []
  let left = MOST_BYTES
  for (const { item, bytes } of found.slice(0, MOST_ITEMS)) {
    left -= bytes
    if (left < 0) break
    items.push(item)
  }
  return items
}
