import type { EscrowDeposit } from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import type { Hex, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleEscrows } from '../../src/derived/oracle/schedule.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { DAY, transfer, travel, usdcOf } from './chain.ts'
import { setCashbackRate } from './commitments.ts'
import type { TestMarket } from './market.ts'
import {
  asAdmin,
  buyThrough,
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  readRank,
  shownRank,
  startTown,
  type Town,
  tell,
  write,
} from './town.ts'

const REASON = 'They used it in another way than I said.'

let town: Town
let m: TestMarket
let people: Person[]
/** Buyers who have not published their review yet, by the review that they bought through. */
let silent: Map<Review, [Person, EscrowDeposit][]>
let escrows: EscrowDeposit[]

beforeAll(async () => {
  town = await startTown()
  ;({ m } = town)
  people = []
  for (let count = 0; count < 6; count += 1) people.push(await newcomer(m))
  silent = new Map()
  escrows = []
})
afterAll(() => m.close())

/** Every purchase in this file is made here. */
async function bought(person: Person, review: Review, cashbackOfCommissionBps = 0): Promise<EscrowDeposit> {
  const deposit = await buyThrough(m, person, review, { cashbackOfCommissionBps })
  escrows.push(deposit)
  return deposit
}

/**
 * A new author's review of a new product, with a medium rating. Three buyers give the worst; three more, or none,
 * have bought it.
 */
async function contradicted(more: 0 | 3 = 0): Promise<Review> {
  const review = await write(m, await newcomer(m), await newProduct(town), 3)
  const deposits: [Person, EscrowDeposit][] = []
  for (const person of people.slice(0, 3 + more)) deposits.push([person, await bought(person, review)])
  for (const [person, deposit] of deposits.splice(0, 3)) await tell(m, person, deposit, 1)
  silent.set(review, deposits)
  expect(await outcomeOf(review)).toBe('contradicted')
  return review
}

/**
 * Publishes the remaining opinions: with six, all reviews of the product are compared again. Returns the outcome of a
 * control review with a medium rating.
 */
async function comparedAgain(review: Review): Promise<string> {
  const control = await write(m, await newcomer(m), review.product, 3)
  expect(await outcomeOf(control)).toBe('contradicted')
  for (const [person, deposit] of silent.get(review) ?? []) await tell(m, person, deposit, 5)
  return outcomeOf(control)
}

async function outcomeOf({ reviewId }: Review): Promise<string> {
  await quiet(m)
  return (await must(m.call('GET', `/v1/review/${reviewId}`))).comparison_outcome
}

async function rankOf(person: Pick<Person, 'agentId'>) {
  await quiet(m)
  return (await readRank(m, person)).repeat
}

const dispute = ({ reviewId, author }: Review, as: LocalAccount = author.owner, reason: unknown = REASON) =>
  m.call('POST', `/v1/review/${reviewId}/dispute`, { as, body: { reason } })

const resolve = ({ internalId }: Pick<Review, 'internalId'>, more: object = {}) =>
  asAdmin(m, `disputes/${internalId}/resolve`, { note: 'I have looked at it.', ...more })

const LOST = shownRank('repeat', 0, 3)
const COLD = shownRank('repeat', 0)
const NOT_CONTRADICTED = { status: 409, body: { error: 'review is not contradicted' } }
const NOT_OWNER = { status: 403, body: { error: 'caller does not own this agent' } }
const INVALID = { status: 400, body: { error: 'invalid request' } }

describe('a dispute', () => {
  it('is refused for a review that is not there, or not contradicted', async () => {
    const pending = await write(m, await newcomer(m), await newProduct(town), 3)
    expect(await dispute(pending)).toMatchObject(NOT_CONTRADICTED)
    // Ownership is checked first.
    expect(await dispute(pending, m.market.accounts.stranger)).toMatchObject(NOT_OWNER)
    expect(await dispute({ ...pending, reviewId: 999_999n })).toMatchObject({
      status: 404,
      body: { error: 'review not found' },
    })
    for (const id of ['0', '-1', 'x', '1.5']) {
      const ask = { as: pending.author.owner, body: { reason: REASON } }
      const answer = await m.call('POST', `/v1/review/${id}/dispute`, ask)
      expect(answer, id).toMatchObject({ status: 400, body: { error: 'invalid review id' } })
    }
    expect(await outcomeOf(pending)).toBe('pending')
  })

  it('has a reason of up to 2,000 characters', async () => {
    const review = await contradicted()
    const { owner } = review.author
    for (const reason of [null, '', 5, {}, '\u{1F600}'.repeat(2_001)]) {
      expect(await dispute(review, owner, reason), JSON.stringify(reason)).toMatchObject(INVALID)
    }
    for (const body of [{}, [], '"reason"', 'reason']) {
      const answer = await m.call('POST', `/v1/review/${review.reviewId}/dispute`, { as: owner, body })
      expect(answer, JSON.stringify(body)).toMatchObject(INVALID)
    }
    const answer = await dispute(review, owner, '\u{1F600}'.repeat(2_000))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ review_id: review.internalId, comparison_outcome: 'disputed' })
  })

  it('leaves rank and outcome as they are until it is ended, and then they are for good as the admin said [REV-14]', async () => {
    const review = await contradicted(3)
    expect(await rankOf(review.author)).toEqual(LOST)
    await must(dispute(review))
    expect(await rankOf(review.author)).toEqual(LOST)
    expect(await comparedAgain(review)).toBe('confirmed')
    expect(await outcomeOf(review)).toBe('disputed')
    expect(await rankOf(review.author)).toEqual(LOST)
    expect(await dispute(review)).toMatchObject(NOT_CONTRADICTED)

    const answers = await Promise.all([resolve(review), resolve(review)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await outcomeOf(review)).toBe('resolved')
    expect(await rankOf(review.author)).toEqual(COLD)
    expect(await dispute(review)).toMatchObject(NOT_CONTRADICTED)
  })

  it('that an admin decides against the author leaves the contradiction in the rank', async () => {
    const review = await contradicted(3)
    await must(dispute(review))
    expect(await resolve(review, { upheld: 'true' })).toMatchObject({
      status: 400,
      body: { error: 'invalid upheld' },
    })
    expect(await resolve(review, { upheld: true })).toMatchObject({
      status: 200,
      body: { internal_id: review.internalId, comparison_outcome: 'resolved' },
    })
    expect(await rankOf(review.author)).toEqual(LOST)
    expect(await comparedAgain(review)).toBe('confirmed')
    expect(await outcomeOf(review)).toBe('resolved')
    expect(await rankOf(review.author)).toEqual(LOST)
  })

  it('is for whoever owns the agent now; what was lost stays with whoever wrote', async () => {
    const review = await contradicted()
    const { agentId, owner: writer } = review.author
    const later = await newcomer(m)
    await transfer(m, writer, later.owner.address, agentId)
    expect(await rankOf(review.author)).toEqual(COLD)
    expect(await dispute(review)).toMatchObject(NOT_OWNER)
    await must(dispute(review, later.owner))
    await transfer(m, later.owner, writer.address, agentId)
    expect(await rankOf(review.author)).toEqual(LOST)
    await must(resolve(review, { upheld: false }))
    expect(await rankOf(review.author)).toEqual(COLD)
  })
})

interface Decision {
  kind: 'release' | 'settle'
  contradicted: boolean
  cashback_earned: boolean
  inputs: Record<string, unknown>
  transaction: { state: string; hash: Hex | null; reason: string | null }
}

const decisionsOf = async ({ escrowId }: EscrowDeposit): Promise<Decision[]> =>
  (await must(m.call('GET', `/v1/escrow/${escrowId}/decisions`))).decisions

/** Recomputes a settlement's decision from its public inputs. */
const recomputed = ({ comparison_outcome, upheld, ...inputs }: Decision['inputs']) => ({
  contradicted:
    comparison_outcome === 'contradicted' || (comparison_outcome === 'resolved' && upheld === true),
  cashback_earned:
    inputs.buyer_agent_id !== null &&
    inputs.buyer_review_internal_id !== null &&
    inputs.votes_missing === false &&
    inputs.cashback_pledged === true,
})

const treasury = () => usdcOf(m, m.market.accounts.treasury.address)

describe('what the oracle decides of an escrow', () => {
  it('can be worked out again by anybody, and is what the chain then shows', async () => {
    const author = await newcomer(m)
    await must(setCashbackRate(m, author.owner, { agentId: author.agentId, bps: 4_000 }))
    const review = await write(m, author, await newProduct(town), 3)
    const all = people.slice(0, 4) as [Person, Person, Person, Person]
    const [first, ...others] = all
    const told: [Person, EscrowDeposit][] = []
    for (const person of others) told.push([person, await bought(person, review)])
    const earned = await bought(first, review, 4_000)
    const unearned = await bought(first, review, 4_000)
    const agentless = await bought({ ...first, agentId: Attribution.AGENTLESS_BUYER_ID }, review, 4_000)
    const resolved = await contradicted()
    await must(dispute(resolved))
    await must(resolve(resolved))
    const forgiven = await bought(first, resolved)
    const waiting = await contradicted()
    await must(dispute(waiting))
    const held = await bought(first, waiting)
    for (const [person, deposit] of told) await tell(m, person, deposit, 1)
    expect(await outcomeOf(review)).toBe('contradicted')
    const { internalId } = await tell(m, first, earned, 1)
    const inputs = {
      buyer_agent_id: Number(first.agentId),
      buyer_review_internal_id: internalId,
      votes_missing: false,
      cashback_pledged: true,
    }
    await until(async () => (await decisionsOf(earned))[0]?.transaction.state === 'confirmed', 'the release')
    expect(await decisionsOf(earned)).toMatchObject([
      { kind: 'release', contradicted: false, cashback_earned: true, inputs },
    ])

    const before = await treasury()
    await travel(m, 60 * DAY + 60)
    // What is being compared is not settled yet.
    await quiet(m)
    await settleEscrows(m.service.context).run({ signal: AbortSignal.timeout(60_000), sql: m.sql })
    let toTreasury = 0n
    const settled = new Map<EscrowDeposit, Decision>()
    for (const escrow of escrows) {
      const find = async () => (await decisionsOf(escrow)).find(({ kind }) => kind === 'settle')
      if (!(await find())) continue
      await until(async () => (await find())?.transaction.state === 'confirmed', 'the settlement')
      const [decision] = await decisionsOf(escrow)
      if (decision?.kind !== 'settle') throw new Error('the settlement is the newest')
      expect(decision).toMatchObject(recomputed(decision.inputs))
      expect(decision.transaction).toMatchObject({ hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      settled.set(escrow, decision)
      if (decision.contradicted) toTreasury += escrow.heldBack
    }
    expect(settled.get(earned)).toMatchObject({ contradicted: true, cashback_earned: true, inputs })
    expect(settled.get(unearned)).toMatchObject({ contradicted: true, cashback_earned: false })
    expect(settled.get(agentless)).toMatchObject({ contradicted: true, cashback_earned: false })
    expect(settled.get(forgiven)).toMatchObject({ contradicted: false, inputs: { upheld: false } })
    expect(settled.get(held)).toBeUndefined()
    expect((await treasury()) - before).toBe(toTreasury)
    expect(toTreasury).toBeGreaterThan(0n)
  })
})
