import { adminRoutes } from './admin/http.ts'
import { agentRoutes } from './agents/http.ts'
import { authRoutes } from './auth/http.ts'
import { cashbackRoutes } from './cashback/http.ts'
import { chargeRoutes } from './charge/http.ts'
import { digestRoutes } from './digest/http.ts'
import { discoveryRoutes } from './discovery/http.ts'
import { earningsRoutes } from './earnings/http.ts'
import { escrowRoutes } from './escrows/http.ts'
import { guideRoutes } from './guides/http.ts'
import type { Route } from './http/route.ts'
import { intentRoutes } from './intents/http.ts'
import { linkRoutes } from './links/http.ts'
import { manifestRoutes } from './manifest/http.ts'
import { merchantRoutes } from './merchants/http.ts'
import { oracleRoutes } from './oracle/http.ts'
import { proofRoutes } from './proofs/http.ts'
import { rankRoutes } from './ranks/http.ts'
import { resourceRoutes } from './resources/http.ts'
import { reviewableRoutes } from './reviewable/http.ts'
import { reviewRoutes } from './reviews/http.ts'
import { spendingRoutes } from './spending/http.ts'
import { voteRoutes } from './votes/http.ts'

/** Everything that the service answers over HTTP, in the order of the reference. */
export const routes: readonly Route[] = [
  ...reviewRoutes,
  ...proofRoutes,
  ...discoveryRoutes,
  ...agentRoutes,
  ...digestRoutes,
  ...reviewableRoutes,
  ...voteRoutes,
  ...cashbackRoutes,
  ...earningsRoutes,
  ...escrowRoutes,
  ...oracleRoutes,
  ...rankRoutes,
  ...spendingRoutes,
  ...intentRoutes,
  ...merchantRoutes,
  ...resourceRoutes,
  ...linkRoutes,
  ...chargeRoutes,
  ...manifestRoutes,
  ...guideRoutes,
  ...authRoutes,
  ...adminRoutes,
]
