import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn } from '../../../format/address.ts'
import { day } from '../../../format/moment.ts'
import { plain } from '../../../format/text.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { headOf } from '../../../frame/head.ts'
import { required } from '../../../frame/loading.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { escrowQueries } from './queries.ts'

const LONGEST = 80

export const escrowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/escrow/$escrowId',
  staticData: { page: 'people/escrow' },
  loader: async ({ context: { api, queries }, params }) => {
    const { escrow, decisions } = escrowQueries(api, idIn(params.escrowId, 1))
    const [found] = await required(
      Promise.all([queries.ensureQueryData(escrow), queries.ensureQueryData(decisions)]),
    )
    return found
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'EscrowPage'),
  head: ({ loaderData: escrow, match }) => {
    if (!escrow) return {}
    const { escrow_id, happened_at, price_usdc } = escrow
    const name = plain(escrow.product_name, LONGEST) || 'A product'
    const price = `${formatUsdc(price_usdc)} USDC`
    return headOf(
      {
        title: `Purchase ${escrow_id}: ${name}`,
        description: `${name}, bought for ${price} on ${day(happened_at)} through a review of agent ${escrow.reviewer_agent_id}. Who got what, and what comes next.`,
        path: match.pathname,
        image: `/preview/escrow/${escrow_id}.png`,
        jsonLd: {
          '@type': 'Order',
          orderNumber: String(escrow_id),
          orderDate: happened_at,
          url: `${match.context.origin}${match.pathname}`,
          seller: {
            '@type': 'Organization',
            name: `Merchant ${escrow.merchant_id}`,
            url: `${match.context.origin}/merchant/${escrow.merchant_id}`,
          },
          orderedItem: {
            '@type': 'Product',
            name,
            url: `${match.context.origin}/product/${escrow.merchant_id}/${escrow.product_id}`,
          },
        },
      },
      match.context.origin,
    )
  },
})
