import { agentRoute } from './agent/route.ts'
import { agentsRoute } from './agents/route.ts'
import { chatRoute } from './chat/route.ts'
import { agentEarningsRoute } from './earnings/route.ts'
import { linkRoute } from './link/route.ts'
import { agentProofsRoute } from './proofs/route.ts'
import { purchaseRoute } from './purchase/route.ts'
import { purchasesRoute } from './purchases/route.ts'
import { sessionsRoute } from './sessions/route.ts'
import { signInRoute } from './sign-in/route.ts'
import { spendingRoute } from './spending/route.ts'

export const ownerRoutes = [
  signInRoute,
  agentsRoute,
  agentRoute,
  agentEarningsRoute,
  agentProofsRoute,
  purchasesRoute,
  purchaseRoute,
  spendingRoute,
  chatRoute,
  linkRoute,
  sessionsRoute,
] as const
