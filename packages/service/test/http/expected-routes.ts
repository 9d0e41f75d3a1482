// Authentication, chain parameter and integer defaults of every route, written by hand, so that a change of a route
// does not change its test.
export interface ExpectedRoute {
  /** `session` and `admin` refuse a signed request; `console` is for our own pages. */
  auth: 'none' | 'signed' | 'session' | 'admin' | 'console'
  /** `query`: optional there. `required`: in the query, without a default. `body`: required in the body. */
  chain?: 'query' | 'required' | 'body'
  /** The status of a success; 200 by default. */
  status?: 201 | 204
  /** The error text for an invalid body; routes without it take none. */
  badBody?: string
  /** Optional integers of the query, with their defaults. */
  integers?: Record<string, number>
}

const open = { auth: 'none' } as const
const openOfChain = { auth: 'none', chain: 'query' } as const
const signed = { auth: 'signed', chain: 'query' } as const
const admin = { auth: 'admin', chain: 'query' } as const

/** The routes of the interface. */
export const STATED: Record<string, ExpectedRoute> = {
  'GET /v1/review': { ...openOfChain, integers: { page: 1, limit: 100 } },
  'GET /v1/review/{id}': openOfChain,
  'GET /v1/review-internal/{id}': openOfChain,
  'POST /v1/review/register': { ...signed, badBody: 'invalid request' },
  'POST /v1/proof': { ...signed, status: 201, badBody: 'invalid request' },
  'GET /v1/proof/{id}': signed,
  'GET /v1/discover': { ...openOfChain, integers: { max_products: 5 } },
  'GET /v1/merchant/{id}/discovery': openOfChain,
  'GET /.well-known/referrer-agent': open,
  'GET /.well-known/referrer-agent.txt': open,
  'GET /v1/agent': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/agent/{id}': openOfChain,
  'POST /v1/agent/register': { ...signed, status: 201, badBody: 'invalid agent_id' },
  'GET /v1/agent/{id}/context': { ...signed, integers: { recent_limit: 10 } },
  'GET /v1/agent/{id}/reviewable': { ...signed, integers: { limit: 50, offset: 0 } },
  'POST /v1/votes/step1': { ...signed, badBody: 'invalid request' },
  'POST /v1/votes/step2': { ...signed, badBody: 'invalid request' },
  'POST /v1/cashback-rate/step1': { ...signed, badBody: 'invalid request' },
  'POST /v1/cashback-rate/step2': { ...signed, badBody: 'invalid request' },
  'GET /v1/agent/{id}/earnings': signed,
  'GET /v1/agent/{id}/escrows': { ...signed, integers: { limit: 50, offset: 0 } },
  'GET /v1/escrow/{id}/status': signed,
  'GET /v1/review-rank/{id}': { ...signed, integers: { limit: 100, offset: 0 } },
  'GET /v1/stats/mean-rank': openOfChain,
  'POST /v1/spending-limits': { auth: 'signed', chain: 'body', badBody: 'invalid body' },
  'GET /v1/spending-limits': { auth: 'signed', chain: 'required' },
  'POST /v1/merchant/register': { ...signed, status: 201, badBody: 'invalid request' },
  'POST /v1/merchant/product': { ...signed, badBody: 'invalid request' },
  'GET /v1/merchant/product': openOfChain,
  'POST /v1/merchant/product/readiness': { ...signed, badBody: 'invalid request' },
  'POST /v1/merchant/profile': { ...signed, badBody: 'invalid request' },
  'GET /v1/merchant/{id}': openOfChain,
  'GET /v1/merchant': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/merchant/{id}/stats': { auth: 'session', chain: 'query' },
  'POST /v1/messenger/link/start': { auth: 'signed' },
  'POST /v1/messenger/link/confirm': { auth: 'signed', badBody: 'code required' },
  'POST /v1/messenger/link/status': { auth: 'signed' },
  'POST /v1/messenger/link/unlink': { auth: 'signed' },
  'GET /r/{token}': open,
  'POST /mpp/charge': { ...open, badBody: 'invalid request' },
  'POST /v1/auth/session': { auth: 'signed', badBody: 'invalid request' },
}

/** The routes that this service has in addition. */
const ADDED: Record<string, ExpectedRoute> = {
  'GET /v1/review/{id}/comparison': openOfChain,
  'POST /v1/review/{id}/dispute': { ...signed, badBody: 'invalid request' },
  'GET /v1/escrow/{id}/decisions': openOfChain,
  'GET /v1/standing': openOfChain,
  'GET /v1/standing/owner/{address}': openOfChain,
  'GET /v1/standing/shop/{merchant_id}': openOfChain,
  'GET /v1/standing/owners': { ...openOfChain, integers: { limit: 100 } },
  'GET /v1/standing/shops': { ...openOfChain, integers: { limit: 100 } },
  'GET /v1/standing/spending': { ...openOfChain, integers: { limit: 100 } },
  'GET /v1/escrow/{id}/terms': openOfChain,
  'GET /v1/review/{id}/feedback': openOfChain,
  'GET /v1/agent/{id}/feedback': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/merchant/{id}/feedback': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'POST /v1/review/check': { ...openOfChain, badBody: 'invalid request' },
  'GET /v1/activity': { ...openOfChain, integers: { limit: 20 } },
  'GET /v1/activity/reviews': { ...openOfChain, integers: { limit: 20 } },
  'GET /v1/leaderboard': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /discovery/resources': { ...openOfChain, integers: { limit: 20, offset: 0 } },
  'GET /discovery/search': { ...openOfChain, integers: { limit: 10 } },
  'GET /v1/product': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/product/reviews': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/product/history': openOfChain,
  'GET /v1/category': openOfChain,
  'GET /v1/agent/{id}/card': openOfChain,
  'GET /v1/agent/{id}/reviews': { ...openOfChain, integers: { page: 1, limit: 20 } },
  'GET /v1/agent/{id}/rank': { ...openOfChain, integers: { limit: 100, offset: 0 } },
  'GET /v1/agent/{id}/earnings/daily': openOfChain,
  'GET /v1/escrow/{id}': openOfChain,
  'GET /v1/merchant/{id}/summary': openOfChain,
  'GET /v1/stats': openOfChain,
  'GET /v1/standing/verifications': { ...openOfChain, integers: { after: 0, limit: 100 } },
  'GET /v1/spending-limits/budget': { auth: 'signed', chain: 'required' },
  'POST /v1/intents': { auth: 'signed', chain: 'body', status: 201, badBody: 'invalid request' },
  'GET /v1/intents': { ...signed, integers: { limit: 50, offset: 0 } },
  'DELETE /v1/intents/{id}': { auth: 'signed', status: 204 },
  'GET /skill.md': open,
  'GET /.well-known/agent-card.json': open,
  'GET /v1/auth/nonce': open,
  'DELETE /v1/auth/session': { auth: 'session', status: 204 },
  'GET /v1/auth/sessions': { auth: 'session' },
  'DELETE /v1/auth/sessions': { auth: 'session', status: 204 },
  'DELETE /v1/auth/sessions/{session_id}': { auth: 'session', status: 204 },
  'POST /console/session': { auth: 'console', badBody: 'invalid request' },
  'GET /console/session': { auth: 'console' },
  'DELETE /console/session': { auth: 'console', status: 204 },
  'GET /console/accounts': { auth: 'console' },
  'POST /console/rpc': { auth: 'console', badBody: 'invalid request' },
  'GET /v1/agent/{id}/purchases': { ...signed, integers: { page: 1, limit: 20 } },
  'GET /v1/wallet/purchases': { ...signed, integers: { page: 1, limit: 20 } },
  'GET /v1/agent/{id}/proofs': { ...signed, integers: { page: 1, limit: 20 } },
  'GET /v1/merchant/{id}/sales': { auth: 'session', chain: 'query', integers: { page: 1, limit: 20 } },
  'GET /v1/merchant/{id}/payouts': { auth: 'session', chain: 'query' },
  'GET /v1/merchant/{id}/signers': { auth: 'none', chain: 'query' },
  'POST /v1/checkout': { auth: 'none', badBody: 'invalid request' },
  'GET /admin/health': { auth: 'admin' },
  'GET /admin/agents': { ...admin, integers: { page: 1, limit: 20 } },
  'GET /admin/disputes/{internal_id}': admin,
  'GET /admin/proofs': { ...admin, integers: { page: 1, limit: 10 } },
  'POST /admin/proofs/{id}/approve': admin,
  'POST /admin/proofs/{id}/reject': { ...admin, badBody: 'note required' },
  'POST /admin/agents/{id}/flag': admin,
  'POST /admin/agents/{id}/unflag': admin,
  'GET /admin/shops': { ...admin, integers: { page: 1, limit: 20 } },
  'POST /admin/shops/{merchant_id}/verify': { ...admin, badBody: 'note required' },
  'POST /admin/shops/{merchant_id}/withdraw': { ...admin, badBody: 'note required' },
  'GET /admin/rings': { ...admin, integers: { page: 1, limit: 20 } },
  'GET /admin/rings/{ring_id}': admin,
  'GET /admin/rings/{ring_id}/votes': { ...admin, integers: { page: 1, limit: 20 } },
  'POST /admin/rings/{ring_id}/dismiss': { ...admin, badBody: 'note required' },
  'GET /admin/disputes': { ...admin, integers: { page: 1, limit: 20 } },
  'POST /admin/disputes/{internal_id}/resolve': { ...admin, badBody: 'note required' },
  'GET /admin/checklists': { auth: 'admin', integers: { page: 1, limit: 100 } },
  'PUT /admin/checklists/{category}': { auth: 'admin', badBody: 'invalid request' },
  'DELETE /admin/checklists/{category}': { auth: 'admin', status: 204 },
  'GET /admin/dead-letters': { auth: 'admin', integers: { page: 1, limit: 20 } },
}

/** The routes that are there where webhooks are on; `test/webhooks/routes.test.ts` calls them. */
export const ROUTES_OF_WEBHOOKS = [
  'POST /v1/webhooks',
  'GET /v1/webhooks',
  'POST /v1/webhooks/{id}/test',
  'GET /v1/webhooks/{id}/deliveries',
  'POST /v1/webhooks/{id}/replay',
  'POST /v1/webhooks/{id}/rotate',
  'DELETE /v1/webhooks/{id}',
]

export const EXPECTED_ROUTES: [name: string, route: ExpectedRoute][] = Object.entries({ ...STATED, ...ADDED })

/** `GET` and `/v1/review` of `GET /v1/review`. */
export const splitName = (name: string) => name.split(' ') as [method: string, path: string]
