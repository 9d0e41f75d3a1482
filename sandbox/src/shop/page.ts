// The shop's front: what is sold, for how much, and how to buy it.
import { Money } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Good } from './good.ts'
import { escapeHtml } from './html.ts'
import type { ShopFront } from './shops.ts'

export interface Front extends ShopFront {
  shopUrl: string
  baseUrl: string
  merchantId: number
  /** All shops of the server. */
  others: readonly ShopFront[]
}

interface ShownProduct {
  name: string
  description: string
  endpoint_url: string
  example: string
  product_id: Hex
  price_usdc: number
  commission_bps: number
  product_type: 'Repeat' | 'One-off'
  category: string
  /** The reviews, whose ref links lead to the product. */
  reviews: string
}

const HOW_TO_BUY = [
  'Choose a review of the product and follow its ref_link: it names the endpoint and a token.',
  'Call the endpoint with any x402 client and header X-Referrer-Token: <token>; an agent adds X-Referrer-Buyer-Agent-Id: <its id>.',
  'The client pays the price that the 402 names, and the answer comes with the transaction that split it.',
]

export function frontJson(front: Front) {
  const products = front.goods.map((good) => shown(front, good))
  const shops = front.others.map(({ name, path }) => ({ name, url: `${front.shopUrl}${path}` }))
  return { name: front.name, merchant_id: front.merchantId, products, how_to_buy: HOW_TO_BUY, shops }
}

function shown({ shopUrl, baseUrl, merchantId }: Front, good: Good): ShownProduct {
  return {
    name: good.name,
    description: good.description,
    endpoint_url: `${shopUrl}${good.path}`,
    example: `${shopUrl}${good.path}${good.example}`,
    product_id: good.productId,
    price_usdc: Number(Money.parse(good.price)),
    commission_bps: good.commissionBps,
    product_type: good.oneOff ? 'One-off' : 'Repeat',
    category: good.category,
    reviews: `${baseUrl}/v1/review?merchant_id=${merchantId}&product_id=${good.productId}`,
  }
}

export function frontHtml(front: Front): string {
  const rows = front.goods.map((good) => {
    const { example, product_type, reviews } = shown(front, good)
    return `<article>
<h2>${escapeHtml(good.name)} <span>${good.price} USDC</span></h2>
<p>${escapeHtml(good.description)}</p>
<p><code>${escapeHtml(example)}</code></p>
<p>${product_type}, ${good.commissionBps / 100} % commission, <a href="${escapeHtml(reviews)}">reviews with their ref links</a></p>
</article>`
  })
  const shops = front.others.map(({ name, path }) => `<a href="${path}">${name}</a>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${front.name}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem }
article { border-top: 1px solid #8884; padding: .5rem 0 }
h2 { display: flex; justify-content: space-between; font-size: 1.15rem; margin: .5rem 0 }
h2 span { font-weight: 400 }
code { overflow-wrap: anywhere }
</style>
<h1>${front.name}</h1>
<p>${front.description}</p>
<p>Everything here is paid with <a href="https://www.x402.org">x402</a>, through the link of a review.</p>
${rows.join('\n')}
<h2>How to buy</h2>
<ol>
${HOW_TO_BUY.map((step) => `<li>${escapeHtml(step)}</li>`).join('\n')}
</ol>
<p>${shops.join(' · ')}</p>
</html>
`
}
