import { z } from 'zod'
import { prefersHtml } from '../http/accept.ts'
import { Answer, type Route, route } from '../http/route.ts'
import { describeLink, resolveLink } from './operations.ts'
import { CONTENT_SECURITY_POLICY, renderPage } from './page.ts'
import { Link } from './shapes.ts'

const HTML = 'text/html'

export const linkRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/r/{token}',
    tag: 'Ref links',
    summary: 'Where a ref link leads, and what buying through it needs',
    about:
      'It follows the merchant: a link made before the endpoint changed leads to the new one at once. A browser gets a page that shows the review. There is no redirect: it would lose the headers. Links of products or merchants that have closed do not resolve.',
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
