import { expect, test } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import { tools } from '../../src/app/tools.ts'
import { accessOf } from '../../src/kit/route.ts'
import { accessOf as accessOfTool } from '../../src/kit/tool.ts'

/** Money, credentials or the decisions of operators depend on them: they must never be read from a replica, which lags behind. */
const FROM_PRIMARY = [
  'GET /r/{token}',
  'GET /v1/auth/nonce',
  'GET /v1/auth/sessions',
  'GET /v1/intents',
  'GET /v1/spending-limits',
  'GET /v1/spending-limits/budget',
  'GET /v1/webhooks',
  'GET /v1/webhooks/{id}/deliveries',
  'GET /console/session',
  'GET /console/accounts',
  'GET /admin/proofs',
  'GET /admin/disputes',
  'GET /admin/checklists',
  'GET /admin/dead-letters',
  'GET /admin/health',
  'GET /admin/agents',
  'GET /admin/shops',
  'GET /admin/rings',
  'GET /admin/rings/{ring_id}',
  'GET /admin/rings/{ring_id}/votes',
  'GET /admin/disputes/{internal_id}',
  'get_pending_intents',
  'resolve_ref_link',
]

/** What somebody looks at, and may be a moment old unless he wrote it himself. A new route or tool is added to one of the lists. */
const FROM_REPLICAS = [
  'GET /v1/review',
  'GET /v1/review/{id}',
  'GET /v1/review-internal/{id}',
  'GET /v1/review/{id}/feedback',
  'GET /v1/agent/{id}/feedback',
  'GET /v1/merchant/{id}/feedback',
  'GET /v1/proof/{id}',
  'GET /v1/discover',
  'GET /discovery/resources',
  'GET /discovery/search',
  'GET /v1/agent',
  'GET /v1/agent/{id}',
  'GET /v1/agent/{id}/context',
  'GET /v1/agent/{id}/reviewable',
  'GET /v1/agent/{id}/earnings',
  'GET /v1/agent/{id}/escrows',
  'GET /v1/escrow/{id}/status',
  'GET /v1/escrow/{id}/terms',
  'GET /v1/review/{id}/comparison',
  'GET /v1/escrow/{id}/decisions',
  'GET /v1/review-rank/{id}',
  'GET /v1/agent/{id}/rank',
  'GET /v1/stats/mean-rank',
  'GET /v1/standing',
  'GET /v1/standing/owner/{address}',
  'GET /v1/standing/shop/{merchant_id}',
  'GET /v1/standing/owners',
  'GET /v1/standing/shops',
  'GET /v1/standing/spending',
  'GET /v1/standing/verifications',
  'GET /v1/merchant/product',
  'GET /v1/merchant/{id}',
  'GET /v1/merchant',
  'GET /v1/merchant/{id}/stats',
  'GET /v1/merchant/{id}/discovery',
  'GET /.well-known/referrer-agent',
  'GET /.well-known/referrer-agent.txt',
  'GET /.well-known/agent-card.json',
  'GET /skill.md',
  'GET /v1/activity',
  'GET /v1/activity/reviews',
  'GET /v1/leaderboard',
  'GET /v1/agent/{id}/card',
  'GET /v1/agent/{id}/reviews',
  'GET /v1/agent/{id}/earnings/daily',
  'GET /v1/product',
  'GET /v1/product/reviews',
  'GET /v1/product/history',
  'GET /v1/category',
  'GET /v1/escrow/{id}',
  'GET /v1/merchant/{id}/summary',
  'GET /v1/stats',
  'GET /v1/agent/{id}/purchases',
  'GET /v1/wallet/purchases',
  'GET /v1/agent/{id}/proofs',
  'GET /v1/merchant/{id}/sales',
  'GET /v1/merchant/{id}/payouts',
  'GET /v1/merchant/{id}/signers',
  'discover_products',
  'get_agent_context',
  'get_reviewable_products',
  'get_proof_status',
  'list_reviews',
  'get_review',
  'check_review_content',
  'get_agent',
  'get_earnings',
  'list_escrows',
  'get_escrow_status',
  'get_escrow_terms',
  'get_review_rank',
  'get_feedback',
  'get_merchant',
  'get_merchant_product',
  'check_readiness',
]

test('every route and tool that reads is known to read from the primary or from replicas', () => {
  const access = [
    ...routes.map((route) => [`${route.method} ${route.path}`, accessOf(route)] as const),
    ...tools.map((tool) => [tool.name, accessOfTool(tool)] as const),
  ]
  const namesOf = (kind: string) => access.flatMap(([name, of]) => (of === kind ? [name] : [])).sort()
  expect(namesOf('primary')).toEqual(FROM_PRIMARY.toSorted())
  expect(namesOf('replica')).toEqual(FROM_REPLICAS.toSorted())
  for (const { method, path } of routes) {
    if (method !== 'GET') expect(namesOf('write')).toContain(`${method} ${path}`)
  }
})
