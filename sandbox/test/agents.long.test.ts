// What agents do here, with nothing but the tools of the two servers. The rest of the world is people (an admin) and time.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectTools, type Tools } from '../examples/tools.ts'
import { callerOf } from '../src/caller.ts'
import { PATIENCE_MS, run, startTestSandbox, type TestSandbox, until } from './sandbox.ts'

let sandbox: TestSandbox
let tools: Tools
beforeAll(async () => {
  sandbox = await startTestSandbox()
  tools = await connectTools(sandbox.directory)
}, PATIENCE_MS)
afterAll(async () => {
  await tools?.close()
  await sandbox?.end()
})

const DAY = 86_400
/** Of a product that is measured: 10 calls at a cent each. */
const MEASURED = JSON.stringify({
  rating: 4,
  description: 'Sunset to the minute for ten cities. It could say more about the far north.',
  calls: 10,
  successes: 10,
  failures: 0,
  latency_ms: { p50: 12, p95: 30, p99: 44 },
  cost_usdc: '0.10',
  cost_per_call_usdc: '0.01',
})
const TOLD = JSON.stringify({
  rating: 5,
  description: 'A year of daylight in one file, and it agrees with ours.',
})

/** Asks again until it holds. */
async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  let value = await read()
  await until(async () => {
    if (holds(value)) return true
    value = await read()
    return holds(value)
  }, sandbox)
  return value
}

/** What is found by an intent, once it holds. An agent may search five times a second: the others are refused. */
// biome-ignore lint/suspicious/noExplicitAny: as the tool answers
const found = (intent: string, holds: (products: any[]) => boolean): Promise<any[]> =>
  eventually(
    () =>
      tools.backend('discover_products', { intent }).then(
        ({ products }) => products,
        (error: Error) => {
          if (!error.message.includes('rate limited')) throw error
          return []
        },
      ),
    holds,
  )

/** The market reads a block some moments after it is made: until then it asks to come again. */
async function onceRead<T>(call: () => Promise<T>): Promise<T> {
  let answer: T | undefined
  await until(async () => {
    answer = await call().catch((error: Error) => {
      if (!error.message.includes('retry shortly')) throw error
      return undefined
    })
    return answer !== undefined
  }, sandbox)
  return answer as T
}

const agentOf = (role: string) => Number(sandbox.account(role).agentId)

/** A person decides. */
async function approve(proofId: number): Promise<void> {
  const { baseUrl } = sandbox.state
  const admin = privateKeyToAccount(sandbox.account('admin').privateKey)
  const token = await callerOf(baseUrl).signIn(admin)
  const { status } = await fetch(`${baseUrl}/admin/proofs/${proofId}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(status).toBe(200)
}

async function daysPass(days: number): Promise<void> {
  const { rpcUrl } = sandbox.state
  const chain = createTestClient({ mode: 'hardhat', transport: http(rpcUrl) })
  await chain.increaseTime({ seconds: days * DAY })
  await chain.mine({ blocks: 1 })
}

describe('an agent with the two tool servers and nothing else', () => {
  it('proves that it knows a product, is approved, publishes a review and earns with it', {
    timeout: PATIENCE_MS,
  }, async () => {
    const author = agentOf('buyer')
    const isAlmanac = ({ name }: { name: string }) => name === 'Daylight almanac'
    const products = await found('daylight of a whole year', (all) => all.some(isAlmanac))
    const { merchant_id, product_id } = products.find(isAlmanac)
    const { proof_id, status } = await tools.backend('submit_proof', {
      agent_id: author,
      merchant_id,
      product_id,
      proof_data: { invoice: 'A-17', checked_against: 'the almanac of the observatory' },
    })
    expect(status).toBe('pending')
    const review = { agent_id: author, proof_id, content_json: TOLD }
    await expect(tools.backend('submit_review', review)).rejects.toThrow(/not approved/)
    await approve(proof_id)
    expect((await tools.backend('get_proof_status', { agent_id: author, proof_id })).status).toBe('approved')

    const submitted = await tools.signed('submit_review', review, 'sign_review_commitment')
    const { ref_link } = await eventually(
      () => tools.backend('get_review', { internal_id: submitted.review_id }),
      (found) => found.status === 'published' && found.ref_link !== '',
    )
    const before = await tools.backend('get_earnings', { agent_id: author })
    const paid = await tools.signer('pay_for_product', { ref_link, max_amount: '2500000' })
    const after = await eventually(
      () => tools.backend('get_earnings', { agent_id: author }),
      (earnings) => earnings.commission.immediate > before.commission.immediate,
    )
    const { held_back } = await tools.backend('get_escrow_status', {
      agent_id: author,
      escrow_id: paid.escrow_id,
    })
    expect(held_back).toMatchObject({ status: 'pending', amount: after.escrow_pending.held_back })
  })

  it('finds, buys, votes, reviews, gets its cashback; the reviewer earns, and has the rest after 60 days', {
    timeout: PATIENCE_MS,
  }, async () => {
    const buyer = agentOf('buyer')
    const wallet = async () =>
      BigInt((await tools.signer('get_wallet_status', { agent_id: String(buyer) })).wallets[0].usdc)
    const [product] = await found(
      'when does the sun set in Tokyo',
      ([first]) => first?.price_usdc !== undefined && first.reviews.length > 1,
    )
    const [chosen, other] = product.reviews
    const funds = await wallet()

    const { escrow_id, resource } = await tools.signer('pay_for_product', {
      ref_link: chosen.ref_link,
      agent_id: String(buyer),
      max_amount: String(product.price_usdc),
      idempotency_key: 'the sunset of today',
      request: { query: 'city=Tokyo' },
    })
    expect(JSON.parse(resource.body)).toMatchObject({ place: 'Tokyo' })
    expect(funds - (await wallet())).toBe(BigInt(product.price_usdc))
    const ballot = {
      agent_id: buyer,
      escrow_id,
      votes: [{ review_id: other.internal_id, reasoning: 'It told me of the limits.' }],
    }
    await eventually(
      () => tools.backend('list_escrows', { agent_id: buyer }),
      ({ escrows }) => escrows.some((escrow: { escrow_id: number }) => escrow.escrow_id === escrow_id),
    )
    expect(await tools.signed('cast_review_votes', ballot, 'sign_vote_commitment')).toEqual({
      status: 'ok',
      votes_recorded: 1,
    })

    const { review_id } = await tools.signer('publish_escrow_review', {
      agent_id: String(buyer),
      merchant_id: String(product.merchant_id),
      product_id: product.product_id,
      content_json: MEASURED,
      escrow_id: String(escrow_id),
    })
    const registered = await onceRead(() =>
      tools.backend('register_purchase_review', { review_id, escrow_id, content_json: MEASURED }),
    )
    expect(registered.status).toBe('buyer_review_registered')
    expect(registered.ref_link).toContain('/r/')

    const { cashback } = await eventually(
      () => tools.backend('get_escrow_status', { agent_id: buyer, escrow_id }),
      (escrow) => escrow.cashback.status === 'released',
    )
    expect(cashback.amount).toBeGreaterThan(0)
    expect(await wallet()).toBe(funds - BigInt(product.price_usdc) + BigInt(cashback.amount))
    expect((await tools.backend('get_earnings', { agent_id: buyer })).cashback).toEqual({
      total: cashback.amount,
      count: 1,
    })

    const { reviewer_agent_id: reviewer } = await tools.backend('resolve_ref_link', {
      ref_link: chosen.ref_link,
    })
    const earned = await tools.backend('get_earnings', { agent_id: reviewer })
    expect(earned.commission.immediate).toBeGreaterThan(0)
    expect(earned.commission).toMatchObject({
      held_back_settled: 0,
      held_back_pending: earned.escrow_pending.held_back,
    })

    await daysPass(60)
    await eventually(
      () => tools.backend('get_escrow_status', { agent_id: reviewer, escrow_id }),
      (escrow) => escrow.state === 'settled' && escrow.held_back.status === 'released',
    )
    const settled = await eventually(
      () => tools.backend('get_earnings', { agent_id: reviewer }),
      ({ commission }) => commission.held_back_pending === 0,
    )
    expect(settled.commission).toMatchObject({
      held_back_settled: earned.commission.held_back_pending,
      total_realized: earned.commission.total_potential,
    })
  })
})

it('the runner of an agent buys what its owner queued, votes, and publishes the review that a command writes', {
  timeout: PATIENCE_MS,
}, async () => {
  const buyer = agentOf('buyer')
  const newest = async () => (await tools.backend('list_escrows', { agent_id: buyer })).escrows[0]?.escrow_id
  const before = await newest()
  const writer = `
    let text = ''
    process.stdin.on('data', (chunk) => { text += chunk }).on('end', () => {
      const votes = JSON.parse(text).reviews.slice(0, 1).map(({ review_id }) => ({ review_id, reasoning: 'It agrees with ours.' }))
      console.log(JSON.stringify({ votes, content: ${TOLD} }))
    })`
  const file = join(sandbox.directory, 'writer.cjs')
  writeFileSync(file, writer)
  const example = fileURLToPath(new URL('../examples/run.ts', import.meta.url))
  const runner = run(example, { PORT_OFFSET: sandbox.offset }, [
    '--review-with',
    `"${process.execPath}" "${file}"`,
  ])
  const [code] = await runner.ended
  expect([code, runner.output.text]).toEqual([0, expect.stringMatching(/escrow \d+.*\n.*marked executed/)])
  expect(runner.output.text).toMatch(/review \d+ is published/)
  const escrow_id = await newest()
  expect(escrow_id).toBeGreaterThan(before ?? 0)
  await eventually(
    () => tools.backend('get_escrow_status', { agent_id: buyer, escrow_id }),
    ({ cashback }) => ['released', 'none'].includes(cashback.status),
  )
})
