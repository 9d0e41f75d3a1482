import { createRoute, redirect } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { idIn } from '../../../format/address.ts'
import { required } from '../../../frame/loading.ts'
import { rootRoute } from '../../../frame/root.tsx'

/** The address of a single review, by the market's own id: it leads to its product, where the others stand beside it. */
export const reviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review/$reviewId',
  loader: async ({ context: { api, queries }, params }) => {
    const query = read(api, '/v1/review-internal/{id}', {
      params: { path: { id: idIn(params.reviewId, 1) } },
    })
    const review = await required(queries.ensureQueryData(query))
    throw redirect({
      to: '/product/$merchantId/$productId',
      params: { merchantId: String(review.merchant_id), productId: review.product_id },
      search: { review: review.on_chain_id ?? undefined },
      replace: true,
    })
  },
})
