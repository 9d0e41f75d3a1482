import { registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { productOf, startTestMarket, type TestMarket } from '../../test/http/market.ts'
import { decideProof, listProofs } from './store.ts'

let m: TestMarket
let owner: LocalAccount
let agentId: number

beforeAll(async () => {
  m = await startTestMarket()
  owner = m.market.accounts.reviewer
  agentId = Number(await registerIdentity(m.market, owner))
})
afterAll(() => m.close())

/** With the data as JSON text. */
const submit = (proofData: string, productId: unknown = productOf(1)) =>
  m.call('POST', '/v1/proof', {
    as: owner,
    body: `{"agent_id":${agentId},"merchant_id":0,"product_id":${JSON.stringify(productId)},"proof_data":${proofData}}`,
  })

const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

const storedOf = async (proofId: number) => {
  const [row] = await m.sql<{ proof_data: string }[]>`
    SELECT proof_data FROM market.proofs WHERE proof_id = ${proofId}`
  return row?.proof_data
}

it('takes data of a thousand levels and refuses deeper ones, however deep', async () => {
  const deepest = await submit(nested(1_000))
  expect(deepest.status).toBe(201)
  expect(await storedOf(deepest.body.proof_id)).toBe(nested(1_000))
  for (const levels of [1_001, 20_000, 900_000]) {
    const { status, body } = await submit(nested(levels))
    expect(status).toBe(400)
    expect(body.error).toBe('proof_data too deep: must be <= 1000 levels: invalid input')
  }
})

it('keeps keys and characters that objects and Postgres would rather not', async () => {
  const data = '{"__proto__":{"constructor":1},"":[],"toString":null,"zero":"\\u0000","half":"\\ud800"}'
  const { status, body } = await submit(data)
  expect(status).toBe(201)
  expect(await storedOf(body.proof_id)).toBe(data)
})

it.each([
  ['', 0],
  ['0x', 0],
  ['what', 0],
  ['0x1234', 2],
  [`0x${'ab'.repeat(31)}a`, 31],
  ['ab'.repeat(33), 33],
])('refuses the product %j and tells how many bytes it could decode: %i', async (productId, bytes) => {
  const { status, body } = await submit('{"a":1}', productId)
  expect(status).toBe(400)
  expect(body.error).toBe(`invalid product_id: must be 32-byte hex (got ${bytes} bytes): invalid input`)
})

it('lets one of many decisions at the same moment count', async () => {
  const { body } = await submit('{"a":1}')
  const proofId = BigInt(body.proof_id)
  const by = Buffer.alloc(20, 1)
  const decisions = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      decideProof(m.sql, m.chainId, proofId, {
        status: at % 2 ? 'approved' : 'rejected',
        note: `decision ${at}`,
        by,
        at: new Date(),
      }),
    ),
  )
  expect(decisions.filter((decision) => decision === 'decided')).toHaveLength(1)
  expect(decisions.filter((decision) => decision === 'not pending')).toHaveLength(9)
  const first = decisions.indexOf('decided')
  const status = first % 2 ? 'approved' : 'rejected'
  const cases = await listProofs(m.sql, m.chainId, { status, limit: 10, offset: 0 })
  expect(cases).toMatchObject([{ proof_id: proofId, status, note: `decision ${first}`, reviewed_by: by }])
  const decision = { status: 'approved', note: null, by, at: new Date() } as const
  expect(await decideProof(m.sql, m.chainId, 1_000_000n, decision)).toBe('unknown')
})
