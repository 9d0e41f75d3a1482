// The link that a product of the catalogue is bought through: that of the review which discovery shows first when nothing is asked for.
import { createCache, createLoader } from '@referrer/process'
import { PRODUCT_TYPES, type ProductType } from '@referrer/ranking'
import { type Context, once } from '../../kit/context.ts'
import { findRefTokens } from '../../market/reviews/store.ts'
import { candidateOf, isOnSlate } from '../answers/answer.ts'
import { slateOf } from '../answers/slate.ts'
import { findShortlisted } from '../answers/store.ts'

export interface Linked {
  chainId: number
  /** The product's key in the search index. */
  key: string
  /** 0 is repeat, 1 is one-off. */
  productType: number
}

/** Ranks change slowly, and a link stays good. */
const KEPT_MS = 30_000
const MOST_KEPT = 20_000
/** A product can have hundreds of reviews to choose from. */
const AT_ONCE = 25

/** The token of the best link of a product; undefined: it has none. Many products that are asked for together are read together. */
export const bestToken = once((context) => {
  const load = createLoader<Linked, string | undefined>({
    keyOf: nameOf,
    load: (products) => bestTokens(context, products),
    maxBatch: AT_ONCE,
    concurrency: 2,
  })
  return createCache<Linked, string | undefined>({
    keyOf: nameOf,
    load,
    ttlMs: () => KEPT_MS,
    clock: context.clock,
    max: MOST_KEPT,
  })
})

const nameOf = ({ chainId, key }: Linked) => `${chainId}/${key}`

async function bestTokens(
  { sql, clock }: Context,
  products: readonly Linked[],
): Promise<(string | undefined)[]> {
  const now = new Date(clock())
  const shown = new Map<string, bigint[]>()
  for (const [chainId, some] of Map.groupBy(products, (product) => product.chainId)) {
    const keys = some.map(({ key }) => key)
    const reviews = Map.groupBy(await findShortlisted(sql, chainId, keys, undefined), ({ at }) => at)
    some.forEach((product, at) => {
      const type: ProductType = PRODUCT_TYPES[product.productType] ?? 'repeat'
      const candidates = (reviews.get(at) ?? []).map((row) => candidateOf(row, type, undefined))
      const entries = slateOf(candidates, type, now).entries.filter(isOnSlate)
      shown.set(
        nameOf(product),
        entries.map(({ internalId }) => internalId),
      )
    })
  }
  const ids = [...shown.values()].flat()
  const rows = ids.length === 0 ? [] : await findRefTokens(sql, ids)
  const tokens = new Map(rows.map(({ internal_id, ref_token }) => [internal_id, ref_token]))
  return products.map((product) => {
    const linked = shown.get(nameOf(product))?.find((id) => tokens.get(id) != null)
    return linked === undefined ? undefined : (tokens.get(linked) ?? undefined)
  })
}
