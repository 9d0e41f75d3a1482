import { escrowRoute } from './escrow/route.ts'
import { merchantRoute } from './merchant/route.ts'
import { reviewRoute } from './review/route.ts'
import { reviewerRoute } from './reviewer/route.ts'

export const peopleRoutes = [reviewerRoute, merchantRoute, reviewRoute, escrowRoute] as const
