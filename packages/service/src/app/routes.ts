import { oracleRoutes } from '../derived/oracle/http.ts'
import { rankRoutes } from '../derived/ranks/http.ts'
import { ringRoutes } from '../derived/rings/http.ts'
import { standingRoutes } from '../derived/standing/http.ts'
import { discoveryRoutes } from '../discovery/answers/http.ts'
import { bazaarRoutes } from '../discovery/bazaar/http.ts'
import { resourceRoutes } from '../discovery/resources/http.ts'
import { consoleRoutes } from '../doors/auth/console.ts'
import { authRoutes } from '../doors/auth/http.ts'
import { sandboxRoutes } from '../doors/auth/sandbox-accounts.ts'
import type { Route } from '../kit/route.ts'
import { adminRoutes } from '../market/admin/http.ts'
import { agentRoutes } from '../market/agents/http.ts'
import { cashbackRoutes } from '../market/cashback/http.ts'
import { chargeRoutes } from '../market/charge/http.ts'
import { digestRoutes } from '../market/digest/http.ts'
import { earningsRoutes } from '../market/earnings/http.ts'
import { escrowRoutes } from '../market/escrows/http.ts'
import { feedbackRoutes } from '../market/feedback/http.ts'
import { guideRoutes } from '../market/guides/http.ts'
import { intentRoutes } from '../market/intents/http.ts'
import { linkRoutes } from '../market/links/http.ts'
import { manifestRoutes } from '../market/manifest/http.ts'
import { merchantRoutes } from '../market/merchants/http.ts'
import { messengerRoutes } from '../market/messenger/http.ts'
import { proofRoutes } from '../market/proofs/http.ts'
import { reviewableRoutes } from '../market/reviewable/http.ts'
import { reviewRoutes } from '../market/reviews/http.ts'
import { spendingRoutes } from '../market/spending/http.ts'
import { verificationRoutes } from '../market/verifications/http.ts'
import { voteRoutes } from '../market/votes/http.ts'
import { webhookRoutes } from '../market/webhooks/http.ts'
import { activityRoutes } from '../views/activity/http.ts'
import { agentViewRoutes } from '../views/agents/http.ts'
import { checkoutRoutes } from '../views/checkout/http.ts'
import { escrowViewRoutes } from '../views/escrows/http.ts'
import { merchantViewRoutes } from '../views/merchants/http.ts'
import { operatorRoutes } from '../views/operators/http.ts'
import { ownerRoutes } from '../views/owners/http.ts'
import { productViewRoutes } from '../views/products/http.ts'
import { shopRoutes } from '../views/shops/http.ts'
import { statsRoutes } from '../views/stats/http.ts'

/** Everything that the service answers over HTTP, in the order of the reference. */
export const routes: readonly Route[] = [
  ...reviewRoutes,
  ...proofRoutes,
  ...discoveryRoutes,
  ...bazaarRoutes,
  ...agentRoutes,
  ...digestRoutes,
  ...reviewableRoutes,
  ...voteRoutes,
  ...cashbackRoutes,
  ...earningsRoutes,
  ...escrowRoutes,
  ...oracleRoutes,
  ...rankRoutes,
  ...standingRoutes,
  ...verificationRoutes,
  ...spendingRoutes,
  ...intentRoutes,
  ...messengerRoutes,
  ...webhookRoutes,
  ...merchantRoutes,
  ...resourceRoutes,
  ...feedbackRoutes,
  ...linkRoutes,
  ...chargeRoutes,
  ...manifestRoutes,
  ...guideRoutes,
  ...activityRoutes,
  ...agentViewRoutes,
  ...productViewRoutes,
  ...escrowViewRoutes,
  ...merchantViewRoutes,
  ...statsRoutes,
  ...ownerRoutes,
  ...shopRoutes,
  ...checkoutRoutes,
  ...authRoutes,
  ...consoleRoutes,
  ...sandboxRoutes,
  ...adminRoutes,
  ...operatorRoutes,
  ...ringRoutes,
]
