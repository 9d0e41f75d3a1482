import type { Route } from '../../kit/route.ts'
import { adminAgentRoutes } from './agents.ts'
import { adminChecklistRoutes } from './checklists.ts'
import { adminDeadLetterRoutes } from './dead-letters.ts'
import { adminDisputeRoutes } from './disputes.ts'
import { adminProofRoutes } from './proofs.ts'
import { adminShopRoutes } from './shops.ts'

export const adminRoutes: Route[] = [
  ...adminProofRoutes,
  ...adminAgentRoutes,
  ...adminShopRoutes,
  ...adminDisputeRoutes,
  ...adminChecklistRoutes,
  ...adminDeadLetterRoutes,
]
