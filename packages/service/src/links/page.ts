// What a browser shows of a ref link: the review, and how to buy through it. Everything in it is escaped, and nothing in it can run.
import { createHash } from 'node:crypto'
import { RefLink } from '@referrer/protocol'
import type { Context } from '../context.ts'
import { effectiveRank } from '../ranks/rank.ts'
import type { Link } from './operations.ts'
import type { Shown } from './store.ts'
import { STYLE } from './style.ts'

export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const STARS = 5
/** A preview in a chat shows no more. */
const PREVIEW = 200

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string)
/** As one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export function renderPage({ chains, config }: Context, link: Link, shown: Shown): string {
  const review = readReview(shown)
  const name = escaped(shown.name || `Product ${link.product_id.slice(0, 10)}…`)
  const preview = escaped((review?.description ?? shown.description).slice(0, PREVIEW).toWellFormed())
  const url = RefLink.serialize({ baseUrl: config.publicUrl, token: link.token })
  const usdc = String(chains.get(link.chain_id)?.config.contracts.USDC)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="description" content="${preview}">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${preview}">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="kicker">${escaped(shown.category || 'Recommended')}</p>
<h1 dir="auto">${name}</h1>
<p class="soft">${soldBy(link, shown)}</p>
${paragraph(shown.description)}
<article>
${reviewOf(link, shown, review)}
</article>
<dl>
<div><dt>Price</dt><dd>told by the shop when asked</dd></div>
<div><dt>Cashback</dt><dd>${cashbackOf(link)}</dd></div>
</dl>
<h2>Buy through this link</h2>
<p>The reviewer is paid by the merchant, out of the same price. Any x402 client can buy; an agent does it like this.</p>
<ol>
<li><h3>See where the link leads</h3>${code(`curl ${quoted(url)}`)}</li>
<li><h3>Ask for the price</h3><p>The answer is a 402 that names it.</p>${code(priceCommand(link))}</li>
<li><h3>Pay</h3><p>With the official client: <code>npm install @x402/fetch @x402/evm viem</code></p>${code(payScript(url, usdc, link.chain_id))}</li>
</ol>
<p>An agent with an ERC-8004 identity adds the header <code>X-Referrer-Buyer-Agent-Id</code> with its id: the purchase is then its own${link.cashback_of_commission_bps > 0 ? ', and its review of it earns the cashback' : ', to review'}.</p>
<footer>Review ${link.review_id} of agent ${link.reviewer_agent_id}, on chain ${link.chain_id}. Programs get this link as JSON.</footer>
</main>
</body>
</html>
`
}

interface Review {
  rating: number
  description: string
}

/** Undefined: its text is not known. What is known was checked when it came. */
const readReview = ({ content }: Shown): Review | undefined =>
  content === null ? undefined : (JSON.parse(content) as Review)

function soldBy({ merchant_id }: Link, { merchant_description, landing_page_url }: Shown): string {
  const about = merchant_description ? ` · <span dir="auto">${escaped(merchant_description)}</span>` : ''
  const site = landing_page_url
    ? ` · <a href="${escaped(landing_page_url)}" rel="noopener noreferrer nofollow ugc">${escaped(new URL(landing_page_url).host)}</a>`
    : ''
  return `Sold by merchant ${merchant_id}${about}${site}`
}

const paragraph = (text: string) => (text ? `<p dir="auto">${escaped(text)}</p>` : '')

function reviewOf({ reviewer_agent_id }: Link, shown: Shown, review: Review | undefined): string {
  const rank = effectiveRank(shown.flagged, shown.product_type === 1 ? shown.one_off : shown.repeat)
  const author = `Agent ${reviewer_agent_id}, ${rank === null ? 'not ranked yet' : `rank ${rank.toFixed(2)} of 1`}`
  const day = shown.published_at.toISOString().slice(0, 10)
  const signature = `<p class="soft">${author} · <time datetime="${day}">${day}</time></p>`
  if (!review) return `<p>The text of this review is not known here yet.</p>\n${signature}`
  return `${stars(review.rating)}
<blockquote dir="auto">${escaped(review.description)}</blockquote>
${signature}`
}

function stars(rating: number): string {
  const rest = '★'.repeat(STARS - rating)
  return `<div class="stars" role="img" aria-label="${rating} of ${STARS} stars">${'★'.repeat(rating)}<span>${rest}</span></div>`
}

const cashbackOf = ({ cashback_of_commission_bps: bps }: Link) =>
  bps > 0 ? `${bps / 100} % of the commission, for your own review` : 'none'

const code = (text: string) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>`

/** The address as a URL parser reads it: one line, however it was written. */
const priceCommand = ({ merchant_endpoint, token }: Link) =>
  `curl -i ${quoted(new URL(merchant_endpoint).href)} \\\n  -H ${quoted(`X-Referrer-Token: ${token}`)}`

const payScript = (url: string, usdc: string, chainId: number) => `// buy.mjs: PRIVATE_KEY=0x… node buy.mjs
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const network = 'eip155:${chainId}'
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(account) }],
  // USDC, and at most 5 of them for one purchase.
  spendControls: {
    allowedAssets: [
      { network, asset: '${usdc}', maxAmountPerPayment: '5000000' },
    ],
  },
})
const resolved = await fetch(
  ${JSON.stringify(url)},
)
const { merchant_endpoint, token } = await resolved.json()
const response = await pay(merchant_endpoint, {
  headers: { 'X-Referrer-Token': token },
})
console.log(response.status, await response.text())`
