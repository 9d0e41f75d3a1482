import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OWN_PAGE, sessionOf } from './caller.ts'
import { exampleOf } from './examples.ts'
import { EXPECTED_ROUTES, STATED, splitName } from './expected-routes.ts'
import { productOf } from './market.ts'
import { startTradedMarket, type Traded } from './traded.ts'

let m: Traded

beforeAll(async () => {
  m = await startTradedMarket([31_337])
})
afterAll(() => m.close())

/**
 * Request, status and error text. Requests are signed by the reviewer unless the line says otherwise; the JSON of a
 * POST replaces keys of a valid body. Words in capitals are placeholders for values of the market.
 */
const TABLE = `
  GET /v1/review?merchant_id=x&product_id=PRODUCT       400  invalid merchant_id
  GET /v1/review?merchant_id=-1&product_id=PRODUCT      400  invalid merchant_id
  GET /v1/review?merchant_id=1&product_id=0xabcd        400  invalid product_id: must be 32-byte hex
  GET /v1/review?merchant_id=1                          400  invalid product_id: must be 32-byte hex
  GET /v1/review?chain_id=5                             400  chain_id not configured

  GET /v1/review/x                                      400  invalid review id
  GET /v1/review/0                                      400  invalid review id
  GET /v1/review/-1                                     400  invalid review id
  GET /v1/review/999999                                 404  review not found
  GET /v1/review-internal/x                             400  invalid review id
  GET /v1/review-internal/0                             400  invalid review id
  GET /v1/review-internal/-1                            400  invalid review id
  GET /v1/review-internal/999999                        404  review not found

  POST /v1/review/register [                            400  invalid request
  POST /v1/review/register {"review_id":-1}             400  invalid request
  POST /v1/review/register {"escrow_id":-1}             400  invalid request
  POST /v1/review/register {"review_id":999999}         404  not found

  POST /v1/proof {                                      400  invalid request
  POST /v1/proof {"agent_id":-1}                        400  invalid request
  POST /v1/proof {"merchant_id":-1}                     400  invalid request
  POST /v1/proof {"proof_data":null}                    400  proof_data is required: invalid input
  POST /v1/proof {"proof_data":{}}                      400  proof_data is required: invalid input
  POST /v1/proof {"proof_data":{"a":"MEBIBYTE"}}        400  proof_data too large: must be <= 1048576 bytes: invalid input
  POST /v1/proof {"product_id":"0xabcd"}                400  invalid product_id: must be 32-byte hex (got 2 bytes): invalid input
  POST /v1/proof {"agent_id":0}                         403  caller does not own this agent
  POST /v1/proof {"agent_id":999999}                    404  agent not found on-chain
  GET /v1/proof/x?agent_id=0                            400  invalid proof id
  GET /v1/proof/-1?agent_id=0                           400  invalid proof id
  GET /v1/proof/1                                       400  agent_id required
  GET /v1/proof/1?agent_id=x                            400  agent_id required
  GET /v1/proof/1?agent_id=-1                           400  agent_id required
  GET /v1/proof/999999?agent_id=0                       404  not found
  GET /v1/proof/PROOF?agent_id=0                        404  not found

  GET /v1/discover                                      400  intent is required
  GET /v1/discover?intent=                              400  intent is required
  GET /v1/discover?intent=x&max_products=x              400  invalid max_products
  GET /v1/discover?intent=x&chain_id=5                  400  chain_id not configured
  GET /discovery/resources?limit=x                      400  invalid limit
  GET /discovery/resources?payTo=0x12                   400  invalid payTo
  GET /discovery/resources?chain_id=5                   400  chain_id not configured
  GET /discovery/search                                 400  query is required
  GET /discovery/search?query=x&cursor=x                400  invalid cursor

  GET /v1/agent?owner=0x12                              400  invalid owner address
  GET /v1/agent?chain_id=5                              400  chain_id not configured
  GET /v1/agent/x                                       400  invalid agent id
  GET /v1/agent/0                                       400  invalid agent id
  GET /v1/agent/-1                                      400  invalid agent id
  GET /v1/agent/999999                                  404  agent not found
  POST /v1/agent/register {"agent_id":-1}               400  invalid agent_id
  unsigned POST /v1/agent/register {"agent_id":1}       401  unauthorized
  POST /v1/agent/register {"agent_id":0}                403  caller does not own this agent
  POST /v1/agent/register {"agent_id":999999}           404  agent not found on-chain
  POST /v1/agent/register {"agent_id":REVIEWER}         409  agent already registered

  GET /v1/agent/x/context                               400  invalid agent id
  GET /v1/agent/-1/context                              400  invalid agent id
  GET /v1/agent/1/context?recent_limit=x                400  invalid recent_limit
  GET /v1/agent/x/reviewable                            400  invalid agent id
  GET /v1/agent/-1/reviewable                           400  invalid agent id
  GET /v1/agent/1/reviewable?needs_review=maybe         400  invalid needs_review
  GET /v1/agent/1/reviewable?limit=x                    400  invalid limit
  GET /v1/agent/1/reviewable?offset=x                   400  invalid offset
  POST /v1/votes/step1 {                                400  invalid request
  POST /v1/votes/step1 {"agent_id":-1}                  400  invalid request
  POST /v1/votes/step1 {"escrow_id":-1}                 400  invalid request
  POST /v1/votes/step1 {"votes":[]}                     400  votes must contain 1–3 items, got 0: invalid input
  POST /v1/votes/step1 {"votes":[VOTE,VOTE,VOTE,VOTE]}  400  votes must contain 1–3 items, got 4: invalid input
  POST /v1/votes/step1 {"votes":[{"review_id":1}]}      400  reasoning is required for each vote: invalid input
  POST /v1/votes/step1 {"votes":[LONG]}                 400  reasoning exceeds 280 characters for review_id 1: invalid input
  POST /v1/votes/step1 {"votes":[VOTE,VOTE]}            400  duplicate review_id 1 in votes: invalid input
  POST /v1/votes/step1?chain_id=5 {}                    400  chain_id not configured
  POST /v1/votes/step2 {                                400  invalid request
  POST /v1/votes/step2 {"votes":[VOTE,VOTE]}            400  duplicate review_id 1 in votes: invalid input
  POST /v1/votes/step2 {"nonce":null}                   400  nonce and expiry are required with agent_sig: invalid input
  POST /v1/votes/step2 {"expiry":null}                  400  nonce and expiry are required with agent_sig: invalid input
  POST /v1/votes/step2 {"expiry":1750000000}            400  commitment expired: invalid input
  POST /v1/votes/step2 {"expiry":9999999999}            400  invalid expiry: invalid input
  POST /v1/votes/step2 {"nonce":"PRODUCT"}              400  invalid nonce: must be decimal uint256: invalid input
  POST /v1/votes/step2 {"agent_sig":null}               400  invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input
  POST /v1/votes/step2 {"agent_id":0}                   403  not authorized
  POST /v1/votes/step2 {"agent_id":999999}              404  not found

  POST /v1/cashback-rate/step1 {                                    400  invalid request
  POST /v1/cashback-rate/step1 {"reviewer_agent_id":-1}             400  invalid request
  POST /v1/cashback-rate/step1 {"cashback_of_commission_bps":4001}  400  cashback rate 4001 bps exceeds maximum 4000 bps (40%): invalid input
  POST /v1/cashback-rate/step1?chain_id=5 {}                        400  chain_id not configured
  POST /v1/cashback-rate/step2 {"cashback_of_commission_bps":4001}  400  cashback rate 4001 bps exceeds maximum 4000 bps (40%): invalid input
  POST /v1/cashback-rate/step2 {"nonce":null}                       400  nonce and expiry are required with agent_sig: invalid input
  POST /v1/cashback-rate/step2 {"expiry":1750000000}                400  commitment expired: invalid input
  POST /v1/cashback-rate/step2 {"nonce":"123"}                      400  invalid nonce: must be 0x-prefixed 32-byte hex: invalid input
  POST /v1/cashback-rate/step2 {"agent_sig":"0x12"}                 400  invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input
  POST /v1/cashback-rate/step2 {"reviewer_agent_id":0}              403  not authorized
  POST /v1/cashback-rate/step2 {"reviewer_agent_id":999999}         404  not found

  GET /v1/agent/x/earnings                              400  invalid agent id
  GET /v1/agent/-1/earnings                             400  invalid agent id
  GET /v1/agent/1/earnings?from=x                       400  invalid from: must be RFC3339: invalid input
  GET /v1/agent/1/earnings?to=x                         400  invalid to: must be RFC3339: invalid input
  GET /v1/agent/x/escrows                               400  invalid agent id
  GET /v1/agent/-1/escrows                              400  invalid agent id
  GET /v1/agent/1/escrows?limit=x                       400  invalid limit
  GET /v1/agent/1/escrows?offset=x                      400  invalid offset

  GET /v1/escrow/x/status?agent_id=1                    400  invalid escrow id
  GET /v1/escrow/1/status                               400  agent_id required
  GET /v1/escrow/1/status?agent_id=x                    400  agent_id required
  GET /v1/escrow/1/status?agent_id=-1                   400  agent_id required
  GET /v1/escrow/0/status?agent_id=1                    400  escrow_id is required: invalid input
  GET /v1/escrow/999999/status?agent_id=1               404  not found
  GET /v1/escrow/ESCROW/status?agent_id=0               404  not found
  GET /v1/review-rank/x                                 400  invalid agent id
  GET /v1/review-rank/-1                                400  invalid agent id
  GET /v1/stats/mean-rank?chain_id=5                    400  chain_id not configured

  POST /v1/spending-limits [                            400  invalid body
  POST /v1/spending-limits {"chain_id":5}               400  chain_id not configured
  POST /v1/spending-limits {"daily_cap_usdc":-1}        400  caps must be non-negative
  unsigned POST /v1/spending-limits {}                  401  unauthorized
  GET /v1/spending-limits                               400  chain_id required
  GET /v1/spending-limits?chain_id=x                    400  invalid chain_id
  GET /v1/spending-limits?chain_id=5                    400  chain_id not configured
  unsigned GET /v1/spending-limits?chain_id=CHAIN       401  unauthorized
  stranger GET /v1/spending-limits?chain_id=CHAIN       404  no spending limit set

  unsigned POST /v1/messenger/link/start {}             401  unauthorized
  unsigned POST /v1/messenger/link/confirm {}           401  unauthorized
  POST /v1/messenger/link/confirm {"code":""}           400  code required
  POST /v1/messenger/link/confirm {"code":"abc"}        400  invalid or expired code
  unsigned POST /v1/messenger/link/status {}            401  unauthorized
  unsigned POST /v1/messenger/link/unlink {}            401  unauthorized

  GET /v1/merchant/x/discovery                          400  invalid merchant id
  GET /v1/merchant/-1/discovery                         400  invalid merchant id
  GET /v1/merchant/1/discovery?pay_to=x                 400  invalid pay_to
  GET /v1/merchant/1/discovery?chain_id=5               400  chain_id not configured
  GET /v1/merchant/999999/discovery                     404  merchant not found

  GET /v1/merchant/product?merchant_id=0&product_id=PRODUCT   400  invalid merchant_id
  GET /v1/merchant/product?merchant_id=-1&product_id=PRODUCT  400  invalid merchant_id
`
/** Answers to bodies that do not match their schema; a `detail` tells what is wrong with which field. */
const UNNAMED = ['invalid request', 'invalid body', 'invalid agent_id', 'code required']
const LINE = /^ +(?:(unsigned|stranger) )?(GET|POST) (\S+)(?: (\S+))? +(\d{3}) {2}(.+)$/gm

const rows = [...TABLE.matchAll(LINE)].map(([, caller, method = '', path = '', body, status, text]) => ({
  sent: [caller, method, path, body].filter(Boolean).join(' '),
  caller,
  method,
  path,
  body,
  status: Number(status),
  text,
}))

const filled = (given: string) =>
  given
    .replace('PRODUCT', productOf(2))
    .replace('PROOF', String(m.proofId))
    .replace('ESCROW', String(m.escrowId))
    .replace('CHAIN', String(m.chainId))
    .replace('REVIEWER', String(m.reviewerAgentId))
    .replace('MEBIBYTE', 'x'.repeat(1_048_576))
    .replaceAll('VOTE', '{"review_id":1,"reasoning":"x"}')
    .replace('LONG', JSON.stringify({ review_id: 1, reasoning: 'x'.repeat(281) }))

async function bodyOf(name: string, change: string): Promise<unknown> {
  try {
    return { ...(await exampleOf(m, name)).body, ...JSON.parse(filled(change)) }
  } catch {
    return change
  }
}

describe('a body that does not fit', () => {
  const withBody = EXPECTED_ROUTES.flatMap(([name, { auth, badBody: refusal }]) => {
    const [method, path] = splitName(name)
    return refusal ? [{ name, method, path, auth, refusal }] : []
  })
  const credentialsFor = async (auth: string) => {
    if (auth === 'console') return { headers: OWN_PAGE }
    if (auth === 'admin' || auth === 'session') {
      return { token: await sessionOf(m.call, m.market.accounts.admin) }
    }
    return { as: m.market.accounts.reviewer }
  }

  it.each(withBody)('of $name is told what is wrong with it', async ({ method, path, auth, refusal }) => {
    const ask = async (body: string) =>
      m.call(method, path.replaceAll(/\{\w+\}/g, '1'), {
        body,
        ...(await credentialsFor(auth)),
      })
    expect(await ask('{')).toMatchObject({
      status: 400,
      body: { error: refusal, detail: 'the body must be JSON, as UTF-8' },
    })
    expect(await ask('[7]')).toMatchObject({
      status: 400,
      body: { error: refusal, detail: expect.stringMatching(/^the body must be an object/) },
    })
  })

  it.each(withBody.filter(({ auth, path }) => auth === 'signed' && path !== '/v1/auth/session'))(
    'of $name names each field that is wrong, and repeats nothing of it',
    async ({ name, method, refusal }) => {
      const { path, body, ...rest } = await exampleOf(m, name)
      let named = 0
      for (const field of Object.keys(body ?? {})) {
        for (const wrong of [{ password: 'hunter2' }, `hunter2\0${'x'.repeat(9_000)}`, -1.5]) {
          const answer = await m.call(method, path, { ...rest, body: { ...body, [field]: wrong } })
          if (answer.status !== 400 || answer.body.error !== refusal) continue
          expect(answer.body.detail).toMatch(new RegExp(`^${field}\\b.* must be `))
          expect(answer.text).not.toMatch(/hunter2|password/)
          expect(answer.text.length).toBeLessThan(600)
          named += 1
        }
      }
      expect(named).toBeGreaterThan(0)
    },
  )

  it('that lacks a field is told which, and what goes there', async () => {
    const { path, body, ...rest } = await exampleOf(m, 'POST /v1/merchant/product')
    const { product_id: _left, ...without } = body as Record<string, unknown>
    const detailOf = async (sent: object) => (await m.call('POST', path, { ...rest, body: sent })).body
    expect(await detailOf(without)).toEqual({
      error: 'invalid request',
      detail: expect.stringMatching(
        /^product_id is missing: it must be a text like "0x\w{64}" \(The product: 32 bytes as hex/,
      ),
    })
  })
})

describe('the table of errors (reviews, proofs, discovery, agents, votes, cashback rate, earnings, escrows, ranks, spending limits, messenger links, products)', () => {
  it.each(rows)(
    '$sent answers $status `$text` [ERR-01]',
    async ({ caller, method, path, body, status, text }) => {
      const { reviewer, stranger } = m.market.accounts
      const answer = await m.call(method, filled(path), {
        ...(caller !== 'unsigned' && { as: caller === 'stranger' ? stranger : reviewer }),
        ...(body && { body: await bodyOf(`${method} ${path.split('?')[0]}`, body) }),
      })
      expect(answer).toMatchObject({ status, body: { error: text } })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const isDetailed = status === 401 || UNNAMED.includes(String(text))
      expect(Object.keys(answer.body)).toEqual(isDetailed ? ['error', 'detail'] : ['error'])
    },
  )

  it('has a line for every route that the interface has one for', () => {
    expect(rows).toHaveLength(TABLE.split('\n').filter((line) => line.trim()).length)
    const asked = rows.map(({ method, path }) => `${method} ${path.split('?')[0]}`)
    const isAsked = (name: string) => {
      const pattern = new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      return asked.some((request) => pattern.test(request))
    }
    const missing = Object.keys(STATED).filter((name) => !isAsked(name))
    const others = /^\/(\.well-known|r|mpp|v1\/auth|v1\/merchant)/
    expect(missing.filter((name) => !others.test(splitName(name)[1]))).toEqual([])
  })

  it('a text that has another hash than the one on the chain is told so by the operation [ERR-01]', async () => {
    const { path, body, ...rest } = await exampleOf(m, 'POST /v1/review/register')
    const other = { ...body, content_json: '{"rating":1,"description":"Another"}' }
    const answer = await m.call('POST', path, { ...rest, body: other })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(/^content hash mismatch.*: invalid input$/)
  })

  it('what an operation does not find is `not found` and no word more [ERR-02]', async () => {
    const as = m.market.accounts.reviewer
    const { body } = await exampleOf(m, 'POST /v1/review/register')
    const answers = [
      await m.call('GET', '/v1/proof/999999?agent_id=7', { as }),
      await m.call('GET', '/v1/escrow/999999/status?agent_id=7', { as }),
      await m.call('POST', '/v1/review/register', { as, body: { ...body, review_id: 999_998 } }),
      await m.call('POST', '/v1/review/register', { as, body: { ...body, escrow_id: m.escrowId } }),
    ]
    for (const { text } of answers) expect(text).toBe('{"error":"not found"}')
  })
})
