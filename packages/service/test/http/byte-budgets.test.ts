// Daily quotas of stored bytes for each owner and client.
import { registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepIntents } from '../../src/market/intents/store.ts'
import { sweepProofs } from '../../src/market/proofs/store.ts'
import { sweepQuotas } from '../../src/market/quotas/store.ts'
import { must, naming, sessionOf } from './caller.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'

const KIB = 1_024
const DAY_MS = 86_400_000

let m: TestMarket
let owner: LocalAccount
let other: LocalAccount
let agentId: number
let otherAgentId: number
let clients = 0

beforeAll(async () => {
  m = await startTestMarket({
    env: {
      TRUSTED_PROXIES: '127.0.0.1',
      PROOF_BYTES_PER_OWNER: String(64 * KIB),
      INTENT_BYTES_PER_OWNER: String(16 * KIB),
      UNSIGNED_PROOF_BYTES_PER_CLIENT: String(64 * KIB),
      UNSIGNED_PROOF_BYTES: String(160 * KIB),
      UNSIGNED_PROOF_DAYS: '7',
      SPENDING_LIMIT_BYTES_PER_CLIENT: '1024',
    },
    overrides: NO_WORK,
  })
  ;({ reviewer: owner, buyer: other } = m.market.accounts)
  agentId = Number(await registerIdentity(m.market, owner))
  otherAgentId = Number(await registerIdentity(m.market, other))
  await m.indexed()
})
afterAll(() => m.close())
/** Each test has days of its own, and begins at noon. */
beforeEach(async () => {
  const noon = (Math.floor(now() / DAY_MS) + 3.5) * DAY_MS
  m.clock.aheadMs += noon - now()
  await m.sql`DELETE FROM market.proofs`
})

function newClient(): string {
  clients += 1
  return `203.0.113.${clients}`
}
const now = () => Date.now() + m.clock.aheadMs
const tomorrow = () => new Date((Math.floor(now() / DAY_MS) + 1) * DAY_MS).toISOString().replace('.000Z', 'Z')
const data = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
const proof = (of: number, bytes: number) => ({
  agent_id: of,
  merchant_id: 3,
  product_id: productOf(7),
  proof_data: data(bytes),
})
const submit = (as: LocalAccount, of: number, bytes: number) =>
  m.call('POST', '/v1/proof', { as, body: proof(of, bytes) })

/** Through the tool, which takes unsigned proofs. */
async function submitUnsigned(client: string, of: number, bytes: number): Promise<string> {
  // The tool allows five calls a second for each client.
  m.clock.aheadMs += 1_000
  const params = { name: 'submit_proof', arguments: proof(of, bytes) }
  const headers = {
    'x-forwarded-for': client,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    host: 'localhost',
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { result } = (await m.call('POST', '/mcp', { headers, body })).body
  return result.isError ? result.content[0].text : 'taken'
}

const run = (schedule: { run: ReturnType<typeof sweepProofs>['run'] }) =>
  schedule.run({ sql: m.sql, signal: new AbortController().signal })

describe('proofs that an owner signs', () => {
  it('are refused beyond the bytes of a day, until the day that the refusal names', async () => {
    expect((await submit(owner, agentId, 60 * KIB)).status).toBe(201)
    const { status, body, headers } = await submit(owner, agentId, 4 * KIB)
    expect([status, body]).toEqual([
      429,
      {
        error: 'rate limited',
        detail: `proofs of this owner may take 65536 bytes a day, and that is used up; the next day begins at ${tomorrow()}`,
      },
    ])
    const wait = Number(headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(86_400)
    // Refused data did not count, data that fits does, and others have their own limit.
    expect((await submit(owner, agentId, 2 * KIB)).status).toBe(201)
    expect((await submit(other, otherAgentId, 60 * KIB)).status).toBe(201)
    m.clock.aheadMs += wait * 1_000 + 1_000
    expect((await submit(owner, agentId, 60 * KIB)).status).toBe(201)
  })

  it('count for the owner whichever agent they are for, and all that come at once together', async () => {
    const second = Number(await registerIdentity(m.market, owner))
    await m.indexed()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => submit(owner, at % 2 ? agentId : second, 20 * KIB + at)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    expect(await m.sql`SELECT FROM market.proofs`).toHaveLength(3)
  })
})

describe('proofs that nobody signs', () => {
  it('use up the bytes of their client, and nothing of the agent, its owner or other clients', async () => {
    const [stranger, agent] = [newClient(), newClient()]
    expect(await submitUnsigned(stranger, agentId, 60 * KIB)).toBe('taken')
    expect(await submitUnsigned(stranger, agentId, 4 * KIB)).toBe(
      `rate limited: proofs that no owner signed, of this client, may take 65536 bytes a day, and that is used up; the next day begins at ${tomorrow()}`,
    )
    expect(await submitUnsigned(agent, agentId, 10 * KIB)).toBe('taken')
    expect((await submit(owner, agentId, 60 * KIB)).status).toBe(201)
  })

  it('take no place of the agent: a stranger who filled his own locks nobody out', async () => {
    const stranger = newClient()
    for (let count = 0; count < 10; count += 1)
      expect(await submitUnsigned(stranger, agentId, KIB)).toBe('taken')
    expect(await submitUnsigned(stranger, agentId, KIB)).toMatch(/has 10 pending proofs .*: conflict$/)
    expect(await submitUnsigned(newClient(), agentId, KIB)).toBe('taken')
    expect((await submit(owner, agentId, KIB)).status).toBe(201)
  })

  it('are bounded in all, however many clients send them, and signed ones are not', async () => {
    const sizes = [60, 60, 30]
    for (const size of sizes) expect(await submitUnsigned(newClient(), agentId, size * KIB)).toBe('taken')
    const late = newClient()
    expect(await submitUnsigned(late, agentId, 20 * KIB)).toContain(
      'of everybody, may take 163840 bytes a day',
    )
    // Refused data does not count for a client.
    const [row] = await m.sql<{ count: bigint }[]>`
      SELECT count(*) FROM market.written WHERE bytes > 15 * 1024 AND day = (${new Date(now())}::timestamptz AT TIME ZONE 'UTC')::date`
    expect(Number(row?.count)).toBe(sizes.length + 1)
    expect((await submit(owner, agentId, 20 * KIB)).status).toBe(201)
  })

  it('are forgotten after a week, and signed and approved ones are not', async () => {
    const client = newClient()
    for (let count = 0; count < 3; count += 1) await submitUnsigned(client, agentId, KIB)
    await submit(owner, agentId, KIB)
    const [approved, rejected] = await m.sql<{ proof_id: bigint }[]>`
      SELECT proof_id FROM market.proofs WHERE NOT by_owner ORDER BY proof_id`
    const token = await sessionOf(m.call, m.market.accounts.admin)
    await must(m.call('POST', `/admin/proofs/${approved?.proof_id}/approve`, { token }))
    await must(m.call('POST', `/admin/proofs/${rejected?.proof_id}/reject`, { token, body: { note: 'No.' } }))
    const left = async () => (await m.sql`SELECT FROM market.proofs`).length
    await m.sql`UPDATE market.proofs SET submitted_at = now() - interval '167 hours'`
    await run(sweepProofs(m.service.context.config))
    expect(await left()).toBe(4)
    await m.sql`UPDATE market.proofs SET submitted_at = now() - interval '169 hours'`
    await run(sweepProofs(m.service.context.config))
    const rows = await m.sql<{ by_owner: boolean; status: string }[]>`
      SELECT by_owner, status FROM market.proofs ORDER BY proof_id`
    expect(rows.map(({ by_owner, status }) => [by_owner, status])).toEqual([
      [false, 'approved'],
      [true, 'pending'],
    ])
  })

  it('come after the signed ones, for admins and in what an agent has to do', async () => {
    const client = newClient()
    for (let count = 0; count < 3; count += 1) await submitUnsigned(client, agentId, KIB)
    const { proof_id: signed } = (await submit(owner, agentId, KIB)).body
    await submitUnsigned(client, agentId, KIB)
    const token = await sessionOf(m.call, m.market.accounts.admin)
    const { proofs } = await must(m.call('GET', '/admin/proofs', { token }))
    expect(proofs.map(({ by_owner }: { by_owner: boolean }) => by_owner)).toEqual([
      true,
      ...Array(4).fill(false),
    ])
    const { body } = await m.call('GET', `/v1/agent/${agentId}/context`, { as: owner })
    expect(body.actionable.pending_proofs[0].proof_id).toBe(signed)
  })
})

describe('intents', () => {
  const withdraw = (id: string) => {
    const path = `/v1/intents/${id}`
    return must(m.call('DELETE', path, { as: owner, body: naming('DELETE', path) }))
  }
  const link = () => `https://market.test/r/${'A'.repeat(200)}`
  const queue = () =>
    m.call('POST', '/v1/intents', {
      as: owner,
      body: {
        chain_id: m.chainId,
        agent_id: agentId,
        type: 'buy_product',
        payload: { ref_link: link(), max_amount: 1, idempotency_key: crypto.randomUUID() },
      },
    })

  it('count when they are queued, and withdrawing them gives nothing back', async () => {
    let queued = 0
    let answer = await queue()
    for (; answer.status === 201; answer = await queue()) {
      queued += 1
      await withdraw(answer.body.intent_id)
    }
    expect(queued).toBeGreaterThan(2)
    expect(queued).toBeLessThan(8)
    expect([answer.status, answer.body]).toEqual([
      429,
      {
        error: 'rate limited',
        detail: `intents of this owner may take 16384 bytes a day, and that is used up; the next day begins at ${tomorrow()}`,
      },
    ])
    m.clock.aheadMs += DAY_MS
    expect((await queue()).status).toBe(201)
  })

  it('that were withdrawn are forgotten after a week, those that expired after a month', async () => {
    await m.sql`DELETE FROM market.intents`
    const [withdrawn, expired, executed] = [
      (await queue()).body.intent_id,
      (await queue()).body.intent_id,
      (await queue()).body.intent_id,
    ]
    await withdraw(withdrawn)
    await m.sql`UPDATE market.intents SET status = 'executed', closed_at = now() WHERE intent_id = ${executed}`
    const left = async () =>
      (await m.sql<{ intent_id: string }[]>`SELECT intent_id FROM market.intents`).map((row) => row.intent_id)
    await m.sql`UPDATE market.intents SET closed_at = now() - interval '6 days' WHERE closed_at IS NOT NULL`
    await m.sql`UPDATE market.intents SET expires_at = now() - interval '29 days'`
    await run(sweepIntents)
    expect(new Set(await left())).toEqual(new Set([withdrawn, expired, executed]))
    await m.sql`UPDATE market.intents SET closed_at = now() - interval '8 days' WHERE closed_at IS NOT NULL`
    await run(sweepIntents)
    expect(new Set(await left())).toEqual(new Set([expired, executed]))
    await m.sql`UPDATE market.intents SET expires_at = now() - interval '31 days'`
    await run(sweepIntents)
    expect(await left()).toEqual([executed])
  })
})

it('a client sets the first limits of so many wallets a day, and changes those that there are as often as it likes', async () => {
  const client = newClient()
  const set = (as: LocalAccount, cap: number, from = client) =>
    m.call('POST', '/v1/spending-limits', {
      as,
      headers: { 'x-forwarded-for': from },
      body: { chain_id: m.chainId, daily_cap_usdc: cap },
    })
  const wallets = Array.from({ length: 5 }, () => privateKeyToAccount(generatePrivateKey()))
  const statuses = []
  for (const wallet of wallets) statuses.push((await set(wallet, 1)).status)
  expect(statuses).toEqual([200, 200, 200, 200, 429])
  const [first, , , , last] = wallets as [
    LocalAccount,
    LocalAccount,
    LocalAccount,
    LocalAccount,
    LocalAccount,
  ]
  for (const cap of [2, 3]) expect((await set(first, cap)).body.daily_cap_usdc).toBe(cap)
  expect((await m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, { as: last })).status).toBe(404)
  expect((await set(last, 4, newClient())).status).toBe(200)
})

it('what was written on days that are over is not kept', async () => {
  await m.sql`DELETE FROM market.written`
  await m.sql`
    INSERT INTO market.written SELECT (now() AT TIME ZONE 'UTC')::date - days, 'proofs', ''::bytea, 1
    FROM unnest(ARRAY[0, 1, 2, 30]) AS days`
  await run(sweepQuotas)
  expect(await m.sql`SELECT FROM market.written`).toHaveLength(2)
})
