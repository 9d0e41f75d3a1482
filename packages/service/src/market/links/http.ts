import { z } from 'zod'
import { prefersHtml } from '../../kit/accept.ts'
import { HTML, PAGE_HEADERS } from '../../kit/html.ts'
import { Answer, type Route, route } from '../../kit/route.ts'
import { describeLink, resolveLink } from './operations.ts'
import { linkRefusalPage, renderLink } from './page.ts'
import { Link } from './shapes.ts'

export const linkRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/r/{token}',
    tag: 'Ref links',
    summary: 'Where a ref link leads, and what buying through it needs',
    about:
      'It follows the merchant: a link made before the endpoint changed leads to the new one at once. A browser gets a page that shows the price, the review and what it measured; also where the link does not resolve, it gets a page. There is no redirect: it would lose the headers. Links of products or merchants that have closed do not resolve.',
    auth: 'none',
    reads: 'primary',
    params: z.object({
      token: z.string().meta({ refusal: 'invalid token', about: 'The attribution token.' }),
    }),
    response: Link,
    alsoAs: HTML,
    refusalPage: linkRefusalPage,
    headers: { 'cache-control': 'no-store', vary: 'Accept' },
    refusals: { 400: 'invalid token', 404: 'not found' },
    async handle({ context, params, accept }) {
      const link = await resolveLink(context, params.token)
      if (!prefersHtml(accept)) return link
      const page = renderLink(context, link, await describeLink(context, link))
      return new Answer(page, { headers: PAGE_HEADERS })
    },
  }),
]
