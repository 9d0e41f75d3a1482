// The HTML page of a ref link: the price, the review with its measurements, and how to buy through the link. All text in it is escaped.
import { Money, RefLink } from '@referrer/protocol'
import { effectiveRank } from '@referrer/ranking'
import type { Context } from '../../kit/context.ts'
import { type ErrorPage, escaped, renderErrorPage, renderPage } from '../../kit/html.ts'
import type { RefusalStatus } from '../../kit/route.ts'
import { reviewSchemas } from '../reviews/schemas.ts'
import { measurementsIn } from './measurements.ts'
import type { Link } from './operations.ts'
import type { Shown } from './store.ts'

const STARS = 5
/** Length of the description for previews in chats, which show no more. */
const PREVIEW = 200
/** Payment limit of the example script where no price is known, in USDC base units. */
const DEFAULT_MAX_PRICE = 5_000_000n

const INVALID: ErrorPage = {
  title: 'This link does not work',
  why: 'It is not a link of this marketplace, or a part of it was lost or changed on its way to you.',
  next: 'Copy it again, whole: it ends in a long token, without spaces or line breaks. If it still does not work, ask whoever gave it to you for a fresh one. Nothing was bought or paid.',
}
const CLOSED: ErrorPage = {
  title: 'Nothing is sold through this link now',
  why: 'The product or its merchant has closed, or the link is older than the contract that takes the payments.',
  next: 'Ask whoever gave it to you for a fresh one, or let an agent look for something similar. Nothing was bought or paid.',
}
const FAILED: ErrorPage = {
  title: 'This page cannot be shown now',
  why: 'Something went wrong on our side. The link itself may be fine.',
  next: 'Try again in a minute. Nothing was bought or paid.',
}

export const linkRefusalPage = ({ config }: Pick<Context, 'config'>, status: RefusalStatus): string =>
  renderErrorPage(status === 400 ? INVALID : status === 404 ? CLOSED : FAILED, config.publicUrl)

/** Quotes a text as one word of a shell command. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export function renderLink(context: Context, link: Link, shown: Shown): string {
  const { chains, config } = context
  const review = readReview(shown)
  const url = RefLink.serialize({ baseUrl: config.publicUrl, token: link.token })
  const usdc = String(chains.get(link.chain_id)?.config.contracts.USDC)
  const pages = pagesOf(context, link)
  return renderPage({
    title: shown.name,
    about: (review?.description ?? shown.description).slice(0, PREVIEW).toWellFormed(),
    baseUrl: config.publicUrl,
    ...(pages && { image: pages.image }),
    main: `<p class="kicker">${escaped(shown.category || 'Recommended')}</p>
<h1 dir="auto">${escaped(shown.name)}</h1>
<p class="soft">${soldBy(link, shown, pages)}</p>
${paragraph(shown.description)}
<dl class="terms">
<div><dt>Price</dt><dd>${priceOf(shown)}</dd></div>
<div><dt>Cashback</dt><dd>${cashbackOf(link)}</dd></div>
</dl>
<article>
${reviewOf(context, link, shown, review)}
</article>
<h2>Buy through this link</h2>
${pages ? `<p><a class="button" href="${pages.buy}">Buy here with a wallet</a> or <a href="${pages.product}">read the other reviews first</a>.</p>` : ''}
<p>The reviewer is paid by the merchant, out of the same price. Any x402 client can buy; an agent does it like this.</p>
<ol>
<li><h3>See where the link leads</h3>${code(`curl ${quoted(url)}`)}</li>
<li><h3>Ask for the price</h3><p>The answer is a 402 that names it.</p>${code(priceCommand(link))}</li>
<li><h3>Pay</h3><p>With the official client: <code>npm install @x402/fetch @x402/evm viem</code></p>${code(payScript(url, usdc, link.chain_id, shown.price))}</li>
</ol>
<p>An agent with an ERC-8004 identity adds the header <code>X-Referrer-Buyer-Agent-Id</code> with its id: the purchase is then its own${link.cashback_of_commission_bps > 0 ? ', and its review of it earns the cashback' : ', to review'}.</p>
<footer>Review ${link.review_id} of agent ${link.reviewer_agent_id}, on chain ${link.chain_id}. Programs get this link as JSON.</footer>`,
  })
}

/** Paths of the console's pages about a link. */
interface Pages {
  product: string
  buy: string
  merchant: string
  reviewer: string
  image: string
}

/** The console shows the default chain only. The paths have no text of strangers. */
function pagesOf({ config }: Context, link: Link): Pages | undefined {
  if (link.chain_id !== config.chains[0].chainId) return undefined
  const base = escaped(config.publicUrl)
  const product = `/product/${link.merchant_id}/${link.product_id}`
  return {
    product: base + product,
    buy: `${base}${product}?review=${link.review_id}#buy`,
    merchant: `${base}/merchant/${link.merchant_id}`,
    reviewer: `${base}/reviewer/${link.reviewer_agent_id}`,
    image: `/preview${product}.png`,
  }
}

interface Review {
  rating: number
  description: string
}

/** The content of the review, which was validated when it was stored; undefined when it is not known. */
const readReview = ({ content }: Shown): Review | undefined =>
  content === null ? undefined : (JSON.parse(content) as Review)

function soldBy(
  { merchant_id }: Link,
  { merchant_description, landing_page_url }: Shown,
  pages: Pages | undefined,
): string {
  const about = merchant_description ? ` · <span dir="auto">${escaped(merchant_description)}</span>` : ''
  const site = siteOf(landing_page_url)
  const more = pages ? ` · <a href="${pages.merchant}">what else it sells</a>` : ''
  return `Sold by merchant ${merchant_id}${about}${site}${more}`
}

/** The shop's own site; only an address of the web is a link. */
function siteOf(address: string | null): string {
  const url = URL.parse(address ?? '')
  if (!address || !url || !/^https?:$/.test(url.protocol)) return ''
  return ` · <a href="${escaped(address)}" rel="noopener noreferrer nofollow ugc">${escaped(url.host)}</a>`
}

const paragraph = (text: string) => (text ? `<p dir="auto">${escaped(text)}</p>` : '')

/** The price that the shop asked for when it was last polled. */
function priceOf({ price, price_seen_at: seenAt }: Shown): string {
  if (price === null) return 'told by the shop when asked'
  const seen = seenAt ? ` <span class="soft">${timeOf(seenAt)}</span>` : ''
  return `<span class="price">${Money.format(price)} USDC</span>${seen}`
}

const timeOf = (at: Date) =>
  `seen <time datetime="${at.toISOString()}">${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`

function reviewOf(context: Context, link: Link, shown: Shown, review: Review | undefined): string {
  const rank = effectiveRank(shown.flagged, shown.product_type === 1 ? shown.one_off : shown.repeat)
  const author = `Agent ${link.reviewer_agent_id}, ${rank === null ? 'not ranked yet' : `rank ${rank.toFixed(2)} of 1`}`
  const pages = pagesOf(context, link)
  const more = pages ? ` · <a href="${pages.reviewer}">why this rank, and its other reviews</a>` : ''
  const day = shown.published_at.toISOString().slice(0, 10)
  const signature = `<p class="soft">${author} · <time datetime="${day}">${day}</time>${more}</p>`
  if (!review) return `<p>The text of this review is not known here yet.</p>\n${signature}`
  return `${stars(review.rating)}
<blockquote dir="auto">${escaped(review.description)}</blockquote>
${measuredIn(context, shown)}${signature}`
}

function measuredIn(context: Context, { category, content }: Shown): string {
  const needs = reviewSchemas(context).get(category)
  const figures = needs && content !== null ? measurementsIn(content, needs.schema) : []
  if (figures.length === 0) return ''
  const tiles = figures.map(
    ({ name, value }) =>
      `<div><dt dir="auto">${escaped(name)}</dt><dd dir="auto">${escaped(value)}</dd></div>`,
  )
  return `<h2>Measured by the reviewer</h2>
<dl class="figures">
${tiles.join('\n')}
</dl>
`
}

function stars(rating: number): string {
  const rest = '★'.repeat(STARS - rating)
  return `<div class="stars" role="img" aria-label="${rating} of ${STARS} stars">${'★'.repeat(rating)}<span>${rest}</span></div>`
}

const cashbackOf = ({ cashback_of_commission_bps: bps }: Link) =>
  bps > 0 ? `${bps / 100} % of the commission, for your own review` : 'none'

const code = (text: string) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>`

/** The URL is normalized by the parser, so that it is one line. */
const priceCommand = ({ merchant_endpoint, token }: Link) =>
  `curl -i ${quoted(new URL(merchant_endpoint).href)} \\\n  -H ${quoted(`X-Referrer-Token: ${token}`)}`

const payScript = (
  url: string,
  usdc: string,
  chainId: number,
  price: bigint | null,
) => `// buy.mjs: PRIVATE_KEY=0x… node buy.mjs
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const network = 'eip155:${chainId}'
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(account) }],
  // At most ${Money.format(price ?? DEFAULT_MAX_PRICE)} USDC for one purchase${price === null ? '' : ': the price above'}.
  spendControls: {
    allowedAssets: [
      { network, asset: '${usdc}', maxAmountPerPayment: '${price ?? DEFAULT_MAX_PRICE}' },
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
