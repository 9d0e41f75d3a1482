import { z } from 'zod'
import { prefersHtml } from '../http/accept.ts'
import { accountShown, hex32, wholeNumber } from '../http/fields.ts'
import { Answer, type Route, route } from '../http/route.ts'
import { describeLink, resolveLink } from './operations.ts'
import { CONTENT_SECURITY_POLICY, renderPage } from './page.ts'

const url = z.string().meta({ shown: { type: 'string', format: 'uri' } })
const HTML = 'text/html'

const Link = z
  .object({
    merchant_endpoint: url.meta({ about: 'Where to ask for the price and pay.' }),
    token: z.string().meta({ about: 'Goes along as `X-Referrer-Token`.' }),
    split_router: accountShown.meta({ about: 'Whom the payment is authorised for.' }),
    facilitator_url: url
      .nullable()
      .meta({ about: 'Where payments are settled; null when it is not told here.' }),
    chain_id: wholeNumber,
    merchant_id: wholeNumber,
    product_id: hex32,
    review_id: wholeNumber.meta({ about: 'The id on the chain.' }),
    reviewer_agent_id: wholeNumber,
    cashback_of_commission_bps: wholeNumber.meta({ about: "The buyer's share of the commission." }),
  })
  .meta({ id: 'RefLink' })

export const linkRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/r/{token}',
    tag: 'Ref links',
    summary: 'Where a ref link leads, and what buying through it needs',
    about:
      'A browser gets a page that shows the review. There is no redirect: it would lose the headers. Links of products or merchants that have closed do not resolve.',
    auth: 'none',
    params: z.object({
      token: z.string().meta({ refusal: 'invalid token', about: 'The attribution token.' }),
    }),
    response: Link,
    alsoAs: HTML,
    headers: { 'cache-control': 'no-store', vary: 'Accept' },
    refusals: { 400: 'invalid token', 404: 'not found' },
    async handle({ context, params, accept }) {
      const link = await resolveLink(context, params.token)
      if (!prefersHtml(accept)) return link
      return new Answer(renderPage(context, link, await describeLink(context, link)), {
        headers: {
          'content-type': `${HTML}; charset=utf-8`,
          'content-security-policy': CONTENT_SECURITY_POLICY,
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }),
]
