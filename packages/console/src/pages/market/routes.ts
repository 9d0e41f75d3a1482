import { discoverRoute } from './discover/route.ts'
import { homeRoute } from './home/route.ts'
import { productRoute } from './product/route.ts'
import { reviewersRoute } from './reviewers/route.ts'

export const marketRoutes = [homeRoute, discoverRoute, productRoute, reviewersRoute] as const
