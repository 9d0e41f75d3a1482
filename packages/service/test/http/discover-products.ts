// A market of 25 products on one chain and one on another, without vectors.
import { listProduct, openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { openShop, type Shop } from '../../src/derived/offers/testing.ts'
import { must } from './caller.ts'
import {
  describeProduct,
  findsFirst,
  foundWhere,
  idsOf,
  searchable,
  sellAll,
  startFinding,
  writeAll,
} from './discover-market.ts'
import { productOf, type TestMarket, WORDS_ALONE } from './market.ts'
import { openRecorded } from './merchants.ts'

export const OTHER_CHAIN = 31_338
export const PRICE = 1_000

export interface TestProducts {
  m: TestMarket
  /** Its endpoint gives the price. It has three reviews. */
  tides: Product
  /** Two reviews, and no price. */
  weather: Product
  /** No price, and its lowest price on the chain is 3,000. */
  archive: Product
  /** No category and no reviews. */
  bread: Product
  /** 21 identical products. */
  socks: Product[]
  /** Whose answer has the price. */
  shop: Shop
  close(): Promise<void>
}

export async function startProducts(): Promise<TestProducts> {
  const shop = await openShop()
  const m = await startFinding(WORDS_ALONE, [31_337, OTHER_CHAIN])
  const { market } = m
  const { reviewer } = market.accounts
  const offer = { scheme: 'exact', network: `eip155:${m.chainId}`, asset: market.addresses.USDC }
  shop.answer = (_request, response) =>
    response.writeHead(402).end(JSON.stringify({ accepts: [{ ...offer, amount: String(PRICE) }] }))

  // Merchant 0.
  const all = await sellAll(m, await openRecorded(m), [
    {
      name: 'Tide tables',
      description: 'When the sea rises and falls at every harbour',
      category: 'data',
      endpoint: shop.url('127.0.0.1', '/tides'),
    },
    { name: 'Weather forecast', description: 'Rain and wind for any city', category: 'data' },
    { name: 'Weather archive', category: 'data feeds', minPrice: 3_000n },
    { name: 'Bread recipes' },
    ...Array.from({ length: 21 }, () => ({ name: 'Sock pattern', category: 'knitting' })),
  ])
  const [tides, weather, archive, bread] = all as [Product, Product, Product, Product]
  const socks = all.slice(4)
  const author = { owner: reviewer, agentId: await registerIdentity(market, reviewer) }
  await writeAll(m, tides, [
    [author, 5, 'Right to the minute'],
    [author, 4],
    [author, 5],
  ])
  await writeAll(m, weather, [
    [author, 5],
    [author, 4],
  ])
  await sellElsewhere(m)
  await searchable(m)

  await foundWhere(m, 'intent=tide', ({ products: [first] }) => first?.price_usdc === PRICE)
  await foundWhere(m, 'intent=forecast', ({ products: [first] }) => first?.review_count === 2)
  await foundWhere(
    m,
    'intent=sock&max_products=20',
    (body) => `${idsOf(body)}` === `${socks.slice(0, 20).map(({ productId }) => productId)}`,
  )
  return {
    ...{ m, tides, weather, archive, bread, socks, shop },
    async close() {
      await m.close()
      shop.close()
    },
  }
}

/** One product on the other chain. */
async function sellElsewhere(m: TestMarket): Promise<void> {
  const market = m.chains[1]?.market
  if (!market) throw new Error('there are two chains')
  const { merchant } = market.accounts
  const query = `?chain_id=${OTHER_CHAIN}`
  const product = { merchantId: await openMerchant(market, merchant), productId: productOf(1) }
  const body = { merchant_id: Number(product.merchantId) }
  await must(m.call('POST', `/v1/merchant/register${query}`, { as: merchant, body }))
  await listProduct(market, merchant, product)
  await m.indexed()
  await describeProduct(m, product, { name: 'Weather buoy' }, { query })
  await findsFirst(m, `intent=buoy&chain_id=${OTHER_CHAIN}`, product)
}
