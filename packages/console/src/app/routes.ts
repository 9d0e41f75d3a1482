// Every page of the console. A page's code is loaded when it is visited.

import { rootRoute } from '../frame/root.tsx'
import { marketRoutes } from '../pages/market/routes.ts'
import { operatorRoutes } from '../pages/operator/routes.ts'
import { ownerRoutes } from '../pages/owner/routes.ts'
import { peopleRoutes } from '../pages/people/routes.ts'
import { shopRoutes } from '../pages/shop/routes.ts'

export const routeTree = rootRoute.addChildren([
  ...marketRoutes,
  ...peopleRoutes,
  ...ownerRoutes,
  ...shopRoutes,
  ...operatorRoutes,
])
