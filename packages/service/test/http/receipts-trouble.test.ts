import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { claimReceipts } from '../../src/market/proofs/receipts-store.ts'
import { MOST_ATTEMPTS } from '../../src/market/proofs/receipts-worker.ts'
import { startReplica } from '../oracle/world.ts'
import { must } from './caller.ts'
import {
  APPROVED,
  agentOf,
  CURVES,
  caseOf,
  confirm,
  didOf,
  eip712,
  jws,
  looked,
  pay,
  pendingWith,
  prove,
  publishDocument,
  type ReceiptWorld,
  startReceiptWorld,
  transferUsdc,
} from './receipts.ts'
import { asAdmin } from './town.ts'

/** Longer than the lease of a claim, and the first pauses between attempts. */
const LATER_MS = 130_000
const DAY_MS = 86_400_000
const SILENT_NODES = 'the nodes of the chain did not answer'

let world: ReceiptWorld
let agentId: bigint

beforeAll(async () => {
  world = await startReceiptWorld()
  agentId = await agentOf(world)
})
afterAll(() => world.close())

async function attemptsOf(proofId: number): Promise<{ attempts: number; due_at: Date | null }> {
  const [row] = await world.m.sql<{ attempts: number; due_at: Date | null }[]>`
    SELECT attempts, due_at FROM market.receipts WHERE proof_id = ${proofId}`
  if (!row) throw new Error(`proof ${proofId} has no receipt`)
  return row
}

describe('a receipt that cannot be verified now', () => {
  it('waits for the confirmations of its transaction', async () => {
    const transaction = await transferUsdc(world)
    const proofId = await prove(world, agentId, { x402Receipt: await eip712(world, transaction) })
    const note = 'the transaction does not have 3 confirmations'
    expect(await looked(world, proofId)).toMatchObject(pendingWith(note))
    await confirm(world)
    world.m.clock.aheadMs += LATER_MS
    expect(await looked(world, proofId, note)).toMatchObject(APPROVED)
  })

  it('is not approved when a reorganisation takes its transaction away', async () => {
    const { client } = world.m.market
    const id = await client.snapshot()
    const transaction = await transferUsdc(world)
    const proofId = await prove(world, agentId, { x402Receipt: await eip712(world, transaction) })
    const note = 'the transaction does not have 3 confirmations'
    expect(await looked(world, proofId)).toMatchObject(pendingWith(note))
    await client.revert({ id })
    await confirm(world)
    world.m.clock.aheadMs += LATER_MS
    expect(await looked(world, proofId, note)).toMatchObject(
      pendingWith('the transaction is in no block that our nodes know'),
    )
    await must(asAdmin(world.m, `proofs/${proofId}/reject`, { note: 'never paid' }))
    expect((await attemptsOf(proofId)).due_at).toBe(null)
    await world.m.indexed()
  })

  it('is tried again while no node answers, a bounded number of times', async () => {
    const { m } = world
    const x402Receipt = await eip712(world, await pay(world))
    m.nodes.only = 'eth_getTransactionReceipt'
    try {
      const proofId = await prove(world, agentId, { x402Receipt })
      expect(await looked(world, proofId)).toMatchObject(pendingWith(SILENT_NODES))
      expect((await attemptsOf(proofId)).due_at).not.toBe(null)
      await m.sql`UPDATE market.receipts SET attempts = ${MOST_ATTEMPTS - 1} WHERE proof_id = ${proofId}`
      m.clock.aheadMs += LATER_MS
      await until(async () => (await attemptsOf(proofId)).due_at === null, 'the last attempt')
      expect(await attemptsOf(proofId)).toEqual({ attempts: MOST_ATTEMPTS, due_at: null })
      expect(await caseOf(world, proofId)).toMatchObject(pendingWith(SILENT_NODES))
    } finally {
      m.nodes.only = undefined
    }
  })

  it('is approved once the nodes answer again', async () => {
    const { m } = world
    const x402Receipt = await eip712(world, await pay(world))
    m.nodes.only = 'eth_getTransactionReceipt'
    const proofId = await prove(world, agentId, { x402Receipt })
    expect(await looked(world, proofId)).toMatchObject(pendingWith(SILENT_NODES))
    m.nodes.only = undefined
    m.clock.aheadMs += LATER_MS
    expect(await looked(world, proofId, SILENT_NODES)).toMatchObject(APPROVED)
  })

  it('is approved once the host has its DID document, which is asked for once a minute at most', async () => {
    const { host, m } = world
    const { publicKey, privateKey } = CURVES.EdDSA()
    const kid = `${didOf(world)}#a`
    const receipt = async () => jws(world, await pay(world), { kid, algorithm: 'EdDSA', privateKey })
    const receipts = [await receipt(), await receipt()]
    publishDocument(world, undefined)
    host.asked.length = 0
    const note = "the endpoint's host gave no DID document at /.well-known/did.json"
    const proofs = await Promise.all(receipts.map((x402Receipt) => prove(world, agentId, { x402Receipt })))
    for (const proofId of proofs) expect(await looked(world, proofId)).toMatchObject(pendingWith(note))
    expect(host.asked).toEqual(['/.well-known/did.json'])
    publishDocument(world, {
      verificationMethod: [{ id: '#a', publicKeyJwk: publicKey.export({ format: 'jwk' }) }],
    })
    m.clock.aheadMs += LATER_MS
    for (const proofId of proofs) expect(await looked(world, proofId, note)).toMatchObject(APPROVED)
    expect(host.asked).toHaveLength(2)
  })
})

describe('an approval by receipt', () => {
  it('happens after a crash of who had claimed it', async () => {
    const { m } = world
    const transaction = await transferUsdc(world)
    const id = await prove(world, agentId, { x402Receipt: await eip712(world, transaction) })
    const note = 'the transaction does not have 3 confirmations'
    await looked(world, id)
    // Not due for our own worker, however long this takes; a look that is under way must not make it so.
    const dueAt = new Date(m.service.context.clock() + 60_000)
    await m.sql`UPDATE market.receipts SET due_at = ${dueAt}, attempts = attempts + 1 WHERE proof_id = ${id}`
    await confirm(world)
    // Somebody claims it at the moment that it is due, and is never heard of again.
    const due = { chainIds: [m.chainId], now: dueAt, leaseMs: 60_000, limit: 8 }
    // Merchants whose places are taken are passed by.
    const [{ merchant_id } = { merchant_id: -1n }] = await m.sql<{ merchant_id: bigint }[]>`
      SELECT merchant_id FROM market.proofs WHERE proof_id = ${id}`
    expect(await claimReceipts(m.sql, { ...due, not: [String(merchant_id)] })).toEqual([])
    const claimed = await claimReceipts(m.sql, due)
    expect(claimed.map(({ proof_id }) => Number(proof_id))).toContain(id)
    m.clock.aheadMs += LATER_MS
    expect(await looked(world, id, note)).toMatchObject(APPROVED)
  })

  it('is undone as a whole when it fails in the middle, and then made again', async () => {
    const { m } = world
    const x402Receipt = await eip712(world, await pay(world))
    const proofId = await m.withoutTable('market.written', async () => {
      // The route counts bytes there, so the proof is entered before.
      const [row] = await m.sql<{ proof_id: bigint }[]>`
        INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data)
        VALUES (${m.chainId}, ${agentId}, ${world.merchantId}, ${Buffer.from(world.product.productId.slice(2), 'hex')},
          ${JSON.stringify({ x402Receipt })})
        RETURNING proof_id`
      const id = Number(row?.proof_id)
      const hash = Buffer.from(String(id).padStart(64, '0'), 'hex')
      await m.sql`
        INSERT INTO market.receipts (proof_id, chain_id, receipt_hash, due_at)
        VALUES (${id}, ${m.chainId}, ${hash}, ${new Date(m.service.context.clock())})`
      await until(
        () => m.service.context.workerHealth().some(({ name, error }) => name === 'receipts' && error),
        'the worker to fail',
      )
      expect(await caseOf(world, id)).toMatchObject({ status: 'pending', by_machine: false })
      const { count } = await m.sql`SELECT FROM market.spent_receipts WHERE proof_id = ${id}`
      expect(count).toBe(0)
      return id
    })
    m.clock.aheadMs += LATER_MS
    expect(await looked(world, proofId)).toMatchObject(APPROVED)
  })

  it('is one for a payment, whichever replica is asked for whichever agent', async () => {
    const { m, owner, product } = world
    const replica = await startReplica(m)
    try {
      const agents = [agentId, await agentOf(world), await agentOf(world), await agentOf(world)]
      const transaction = await pay(world)
      const x402Receipt = await eip712(world, transaction)
      const proofs = await Promise.all(
        [...agents, ...agents].map((agent) => prove({ ...world, owner, product }, agent, { x402Receipt })),
      )
      const cases = await Promise.all(proofs.map((proofId) => looked(world, proofId)))
      expect(cases.filter(({ status }) => status === 'approved')).toHaveLength(1)
      const used = 'the receipt or its transaction has proved another purchase already'
      expect(cases.filter(({ machine_note }) => machine_note === used)).toHaveLength(proofs.length - 1)
    } finally {
      await replica.stop()
    }
  })

  it.each([
    ['agent', 'ofAgent', 'approvals of this agent by receipt have reached their bound of the day, 1'],
    [
      'merchant',
      'ofMerchant',
      'approvals of this merchant by receipt have reached their bound of the day, 1',
    ],
    ['market', 'all', 'approvals by receipt have reached their bound of the day, 1'],
  ] as const)('has a bound for each day, of each %s', async (_, bound, note) => {
    const { m } = world
    const { receiptApprovals } = m.service.context.config
    const before = receiptApprovals[bound]
    // The beginning of a new day, on which nothing was approved yet, so that it does not end during the test.
    m.clock.aheadMs += DAY_MS - (m.call.clock() % DAY_MS)
    receiptApprovals[bound] = 1
    try {
      const submitted = async () =>
        looked(world, await prove(world, agentId, { x402Receipt: await eip712(world, await pay(world)) }))
      expect(await submitted()).toMatchObject(APPROVED)
      const second = await submitted()
      expect(second).toMatchObject(pendingWith(note))
      m.clock.aheadMs += DAY_MS
      expect(await submitted()).toMatchObject(APPROVED)
      await must(asAdmin(m, `proofs/${second.proof_id}/approve`))
    } finally {
      receiptApprovals[bound] = before
    }
  })

  it('leaves a proof to the admin who was faster', async () => {
    const { m } = world
    const transaction = await transferUsdc(world)
    const proofId = await prove(world, agentId, { x402Receipt: await eip712(world, transaction) })
    await looked(world, proofId)
    await must(asAdmin(m, `proofs/${proofId}/reject`, { note: 'no' }))
    await confirm(world)
    m.clock.aheadMs += LATER_MS
    const next = await prove(world, agentId, { x402Receipt: await eip712(world, await pay(world)) })
    expect(await looked(world, next)).toMatchObject(APPROVED)
    expect(await caseOf(world, proofId)).toMatchObject({ status: 'rejected', by_machine: false, note: 'no' })
  })
})
