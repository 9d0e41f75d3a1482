import type { Shop } from './connect.ts'
import { onceIndexed } from './indexed.ts'
import { merchantOf } from './list.ts'
import { findProduct } from './project.ts'
import { ShopError } from './report.ts'

export interface DescribeOptions {
  product?: string | undefined
  /** Where buyers reach the product. */
  endpoint?: string | undefined
  name?: string | undefined
  description?: string | undefined
  category?: string | undefined
}

export interface Described {
  merchantId: number
  productId: string
  endpoint: string
  name: string
  description: string
  category: string
  ready: boolean
  checks: { name: string; ok: boolean; detail?: string }[]
}

/** Tells the market what the chain does not say, and has it look at the endpoint. */
export async function describeProduct(shop: Shop, options: DescribeOptions): Promise<Described> {
  const { market, project, reporter } = shop
  const merchantId = merchantOf(shop)
  const product = findProduct(project, options.product)
  const was = await reporter.during(
    'waiting until the market has seen the product on the chain',
    onceIndexed(
      () =>
        market.get('/v1/merchant/product', {
          params: { query: { merchant_id: merchantId, product_id: product.id } },
        }),
      `the market does not know product ${product.id} of merchant ${merchantId}, or it is closed: run referrer-merchant list, then this again`,
    ),
  )
  const endpoint = options.endpoint ?? was.endpoint_url ?? product.endpoint
  if (endpoint === undefined) throw new ShopError('say where buyers reach the product: --endpoint <URL>')
  const name = options.name ?? (was.name || product.name)
  if (name === '') throw new ShopError('say what the product is called: --name <name>')
  const description = options.description ?? was.description
  const category = options.category ?? was.category
  const changed =
    endpoint !== was.endpoint_url ||
    name !== was.name ||
    description !== was.description ||
    category !== was.category
  // Asked first: the market reads the price of what is described once an hour, so the endpoint must be there by then.
  const { pass, checks } = await reporter.during(
    `the market looks at ${endpoint}`,
    market.post('/v1/merchant/product/readiness', { body: { resource: endpoint } }),
  )
  const unreachable = checks.find((check) => check.name === 'reachable' && !check.ok)
  if (unreachable) {
    throw new ShopError(
      `the market gets no answer from ${endpoint} (${unreachable.detail}): start the endpoint, then run this again`,
    )
  }
  if (changed) {
    const about = { endpoint_url: endpoint, name, description, category }
    await market.post('/v1/merchant/product', {
      body: { merchant_id: merchantId, product_id: product.id, ...about },
    })
  }
  project.save({ products: { ...project.data.products, [product.slug]: { id: product.id, name, endpoint } } })
  reporter.step({ name: 'described', changed, text: `the market shows "${name}" at ${endpoint}` })
  return { merchantId, productId: product.id, endpoint, name, description, category, ready: pass, checks }
}
