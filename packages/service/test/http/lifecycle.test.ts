// Purchases from the first day to the seventieth: what both parties are shown, what they earned, and where every unit
// of the money is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must, sessionOf } from './caller.ts'
import { DAY, send, usdcOf } from './chain.ts'
import { vote } from './commitments.ts'
import { act, publishBuyerReview, standingOf } from './escrows.ts'
import {
  ask,
  askStatus,
  expectAll,
  expectListed,
  expectMoney,
  expectStatus,
  type Fate,
  type Fates,
} from './fates.ts'
import {
  type Life,
  type Person,
  type Purchase,
  SAVINGS,
  setApart,
  settlementOf,
  startLife,
} from './lifecycle.ts'
import { generic } from './market.ts'

/**
 * By stage: where the held-back part of each purchase is, and its cashback. A party has it, or it waits: for the
 * window (`pending`), for a settlement (`claimable`), for a buyer who should vote, publish or register, or for an
 * agent that was not named (`waits`). `contested`: the author may still dispute the contradiction.
 */
const FATES = `
              bought         reviewed         day 59           day 60           settled            day 68             day 70
  earned      pending vote   pending buyer    pending buyer    claimable buyer  reviewer buyer     reviewer buyer     reviewer buyer
  never       pending vote   pending vote     pending vote     claimable vote   reviewer reviewer  reviewer reviewer  reviewer reviewer
  bound       pending waits  pending buyer    pending buyer    claimable buyer  reviewer buyer     reviewer buyer     reviewer buyer
  agentless   pending waits  pending waits    pending waits    claimable waits  reviewer reviewer  reviewer reviewer  reviewer reviewer
  contradicted pending vote  contested buyer  contested buyer  contested buyer  treasury buyer     treasury buyer     treasury buyer
  cleared     pending vote   pending buyer    pending buyer    claimable buyer  reviewer buyer     reviewer buyer     reviewer buyer
  upheld      pending none   pending none     pending none     pending none     treasury none      treasury none      treasury none
  undecided   pending waits  pending waits    pending waits    pending waits    pending waits      reviewer reviewer  reviewer reviewer
  unranked    -              pending waits    pending waits    claimable waits  reviewer reviewer  reviewer reviewer  reviewer reviewer
  ranked      -              pending none     pending none     claimable none   reviewer none      reviewer none      reviewer none
  late        pending vote   pending vote     pending vote     claimable vote   claimable vote     claimable buyer    treasury buyer
  forgotten   pending vote   pending vote     pending vote     claimable vote   claimable vote     claimable vote     treasury reviewer
`
type Stage = 'bought' | 'reviewed' | 'day 59' | 'day 60' | 'settled' | 'day 68' | 'day 70'
const STAGES: Stage[] = ['bought', 'reviewed', 'day 59', 'day 60', 'settled', 'day 68', 'day 70']
const ROWS = FATES.trim().split('\n').slice(1)

/** The purchases of a stage. */
function at(stage: Stage, elsewise: Record<string, Fate> = {}): Fates {
  const column = 2 * STAGES.indexOf(stage)
  const cells = ROWS.map((row) =>
    row
      .trim()
      .replaceAll(/-(?= )/g, '- -')
      .split(/ +/),
  )
  const fates = cells.flatMap(([name = '', ...fates]) => {
    const [heldBack = '', cashback = ''] = fates.slice(column)
    return heldBack === '-' ? [] : [[name, { heldBack, cashback }] as const]
  })
  return new Map([...fates, ...Object.entries(elsewise)])
}

let life: Life

beforeAll(async () => {
  life = await startLife()
  const { authors, buyers, wallet } = life
  const [first, second, third] = buyers
  const { praised, contradicted, cleared, upheld, undecided } = authors
  const by = (buyer: Person) => ({ payer: buyer.account, buyer })
  await life.purchase('earned', { by: praised, ...by(first), price: 1_234_567n })
  await life.purchase('never', { by: praised, ...by(second), price: 2_345_679n })
  await life.purchase('bound', { by: praised, payer: wallet.account, price: 3_456_781n })
  await life.purchase('agentless', { by: praised, payer: wallet.account, price: 999_999n })
  await life.purchase('contradicted', { by: contradicted, ...by(first), price: 4_567_891n })
  await life.purchase('cleared', { by: cleared, ...by(second), price: 5_678_917n })
  await life.purchase('upheld', { by: upheld, ...by(third), price: 6_789_123n })
  await life.purchase('undecided', { by: undecided, payer: wallet.account, price: 7_891_237n })
  await life.purchase('late', { by: praised, ...by(second), price: 8_912_347n })
  await life.purchase('forgotten', { by: praised, ...by(third), price: 1_357_913n })
})
afterAll(() => life.close())

const voteFor = ({ deposit, buyer }: Purchase, ...reviews: number[]) => {
  if (!buyer) throw new Error('nobody can vote')
  return must(
    vote(life, buyer.account, { agentId: buyer.agentId, escrowId: deposit.escrowId, votes: reviews }),
  )
}

const reviewOf = async ({ deposit, buyer, payer }: Purchase, rating: number) => {
  const bought = { ...deposit, buyerAgentId: buyer?.agentId ?? deposit.buyerAgentId }
  const body = await publishBuyerReview(life, payer, bought, generic(rating, 'What I found'))
  await life.indexed()
  return body
}

const register = (body: object) =>
  life.call('POST', '/v1/review/register', { as: life.market.accounts.stranger, body })

const untilPaid = ({ payer, shares }: Purchase, before: bigint) =>
  until(async () => (await usdcOf(life, payer.address)) === before + shares.cashback, 'the cashback')

describe('the first days', () => {
  it('begin with everything held [ESC-28, ESC-29, ESC-31, ESC-48 otherwise]', () =>
    expectAll(life, at('bought')))

  it('bring the cashback once the buyer has voted, published and registered, and no sooner [VOTE-74, ESC-28, CTX-29, CTX-32]', async () => {
    const earned = life.called('earned')
    const { agentId } = life.buyers[0]
    const before = await usdcOf(life, earned.payer.address)
    const expectWaiting = (cashback: string) =>
      expectAll(life, at('bought', { earned: { heldBack: 'pending', cashback } }))
    const counts = async () => (await ask(life, `/v1/agent/${agentId}/context`)).counts
    expect(await counts()).toMatchObject({ votes_cast: 0, review_backlog: 2 })
    await voteFor(earned, life.authors.plain.internalId)
    expect(await counts()).toMatchObject({ votes_cast: 1, review_backlog: 2 })
    await expectWaiting('publish')
    const body = await reviewOf(earned, 5)
    await expectWaiting('register')
    await must(register(body))
    await untilPaid(earned, before)
    await expectWaiting('buyer')
    expect(await counts()).toMatchObject({ votes_cast: 1, review_backlog: 1 })
  })

  it('let a wallet name its agent, which then reviews, votes and earns the cashback [ESC-31, ESC-52, ESC-53, VOTE-74]', async () => {
    const bound = life.called('bound')
    const { wallet, market } = life
    const { escrowId } = bound.deposit
    const listed = async () => (await ask(life, `/v1/agent/${wallet.agentId}/escrows`)).escrows
    const ballot = { agentId: wallet.agentId, escrowId, votes: [life.authors.plain.internalId] }
    expect(await listed()).toEqual([])
    expect(await vote(life, wallet.account, ballot)).toMatchObject({ status: 404 })
    await act(life, wallet.account, 'bind', bound.deposit, wallet.agentId)
    await life.indexed()
    bound.buyer = wallet
    expect(await listed()).toMatchObject([{ escrow_id: Number(escrowId), role: 'buyer' }])
    const before = await usdcOf(life, wallet.account.address)
    const body = await reviewOf(bound, 4)
    expect(await register(body)).toMatchObject({ status: 409 })
    expect((await listed())[0].cashback.status).toBe('pending_buyer_review')
    await must(vote(life, wallet.account, ballot))
    await market.client.setAutomine(false)
    await must(register(body))
    const [{ cashback }] = await listed()
    expect(cashback).toEqual({ amount: Number(bound.shares.cashback), status: 'claimable' })
    expect(await usdcOf(life, wallet.account.address)).toBe(before)
    await market.client.setAutomine(true)
    await market.client.mine({ blocks: 1 })
    await untilPaid(bound, before)
  })

  it('show three buyers to contradict what four authors wrote, of whom three dispute that', async () => {
    const { contradicted, cleared, upheld, undecided } = life.authors
    const four = [contradicted, cleared, upheld, undecided]
    for (const name of ['contradicted', 'cleared', 'upheld']) {
      const purchase = life.called(name)
      const before = await usdcOf(life, purchase.payer.address)
      await voteFor(purchase, ...four.filter((one) => one !== purchase.author).map((one) => one.internalId))
      await must(register(await reviewOf(purchase, 1)))
      await untilPaid(purchase, before)
    }
    const outcomes = () =>
      Promise.all(
        four.map(async ({ reviewId }) => (await ask(life, `/v1/review/${reviewId}`)).comparison_outcome),
      )
    await until(async () => (await outcomes()).every((one) => one === 'contradicted'), 'four contradictions')
    for (const { account: as, reviewId } of [cleared, upheld, undecided]) {
      await must(
        life.call('POST', `/v1/review/${reviewId}/dispute`, { as, body: { reason: 'They misread it' } }),
      )
    }
    const token = await sessionOf(life.call, life.market.accounts.admin)
    for (const [{ internalId }, ruling] of [
      [cleared, {}],
      [upheld, { upheld: true }],
    ] as const) {
      const body = { note: 'As I see it', ...ruling }
      await must(life.call('POST', `/admin/disputes/${internalId}/resolve`, { token, body }))
    }
    expect(await outcomes()).toEqual(['contradicted', 'resolved', 'resolved', 'disputed'])
  })

  it('pay more for what an author sells whom buyers voted for, by the multiplier that its rank gives [RANK-33]', async () => {
    const { praised, plain } = life.authors
    const multiplierOf = async ({ agentId }: Person): Promise<number> =>
      (await ask(life, `/v1/review-rank/${agentId}`)).repeat.commission_multiplier_bps
    // Two votes of newcomers with rank 0.5, each worth 0.25 + 0.75 × 0.5, added to the prior of 6 and 6.
    const ranked = Math.round(4_000 + (6_000 * (6 + 2 * 0.625)) / (12 + 2 * 0.625))
    await until(async () => (await multiplierOf(plain)) === ranked, 'the rank that the votes give')
    expect(await multiplierOf(praised)).toBe(7_000)
    const [payer, price] = [life.wallet.account, 2_718_281n]
    await life.purchase('unranked', { by: praised, payer, price, multiplierBps: 7_000 })
    await life.purchase('ranked', { by: plain, payer, price, multiplierBps: ranked })
    const commissionOf = (name: string) => life.called(name).deposit.commission
    expect(commissionOf('unranked')).toBe((price * 700n) / 10_000n)
    expect(commissionOf('ranked')).toBe((price * 1_000n * BigInt(ranked)) / 100_000_000n)
  })

  it('end with earned cashback paid, and all that is held back still held [EARN-18, EARN-23, EARN-24, EARN-30, CTX-42, CTX-43, CTX-47, CTX-48]', () =>
    expectAll(life, at('reviewed')))
})

describe('the end of the window', () => {
  const last = () =>
    BigInt(Math.max(...[...life.purchases.values()].map(({ deposit }) => Number(deposit.windowEnd))))
  const days = (count: number) => BigInt(count * DAY)
  const SETTLED = [...at('day 70').keys()].filter(
    (name) => !['undecided', 'late', 'forgotten'].includes(name),
  )
  const untilSettled = (...names: string[]) =>
    until(async () => {
      const standings = await Promise.all(names.map((name) => standingOf(life, life.called(name).deposit)))
      return standings.every(({ isSettled }) => isSettled)
    }, `the settlement of ${names}`)
  const toReviewer = { heldBack: 'reviewer', cashback: 'reviewer' }
  /** The oracle has decided to settle these, but no node accepts the transactions. */
  const enqueued = { late: toReviewer, forgotten: toReviewer }
  const lateListed = { late: { heldBack: 'reviewer', cashback: 'buyer' } }

  it('is not there on day 59, whatever the oracle tries [ESC-29, ESC-48 otherwise]', async () => {
    await life.travelTo(last() - days(1))
    await life.oracleSettles()
    await expectAll(life, at('day 59'))
  })

  it('makes claimable on day 60 what nobody contradicts [ESC-28, ESC-31]', async () => {
    await life.travelTo(last() + 60n)
    await expectAll(life, at('day 60'))
  })

  it('has the list show a settlement that is only enqueued, and an escrow alone not before it is mined [ESC-21, ESC-48 otherwise, ESC-49]', async () => {
    for (const name of Object.keys(enqueued)) await setApart(life, life.called(name))
    life.nodes.only = Object.keys(enqueued).map((name) => settlementOf(life.called(name)))
    await life.market.client.setAutomine(false)
    await life.oracleSettles()
    await expectListed(life, at('settled', enqueued))
    await expectStatus(life, at('day 60'))
    await expectMoney(life, at('day 60'))
    life.nodes.isDown = true
    await expectStatus(life, at('settled', enqueued)).finally(() => {
      life.nodes.isDown = false
    })
    await life.market.client.setAutomine(true)
    await life.market.client.mine({ blocks: 1 })
  })

  it('brings everything where it belongs, but what is disputed or cannot be settled [ESC-31, ESC-48 otherwise, EARN-17, EARN-19, EARN-21, CTX-45, CTX-46, CTX-49]', async () => {
    await untilSettled(...SETTLED)
    await expectAll(life, at('settled'), at('settled', enqueued))
  })

  it('still lets a buyer earn the cashback whose escrow waits to be settled [VOTE-74]', async () => {
    const late = life.called('late')
    const before = await usdcOf(life, late.payer.address)
    await voteFor(late, life.authors.plain.internalId)
    await must(register(await reviewOf(late, 5)))
    await untilPaid(late, before)
    const paid = { late: { heldBack: 'claimable', cashback: 'buyer' } }
    await expectAll(life, at('settled', paid), at('settled', { ...enqueued, ...lateListed }))
  })

  it('waits eight days for the end of a dispute, and then holds nothing against the author [ESC-31]', async () => {
    await life.travelTo(last() + days(7))
    await life.oracleSettles()
    expect(await standingOf(life, life.called('undecided').deposit)).toMatchObject({ isSettled: false })
    await life.travelTo(last() + days(8))
    await life.oracleSettles()
    await untilSettled('undecided')
    await expectAll(life, at('day 68'), at('day 68', { ...enqueued, ...lateListed }))
  })

  it('is for anybody from day 70 on, where the oracle was silent [ESC-20, ESC-48 otherwise, ESC-50]', async () => {
    const forgotten = life.called('forgotten')
    const { deposit, author } = forgotten
    const shown = () => askStatus(life, forgotten, author.agentId)
    await life.travelTo(deposit.windowEnd + days(10) - 600n)
    expect(await shown()).toMatchObject({ state: 'holding', fallback_available: false })
    await life.travelTo(deposit.windowEnd + days(10))
    expect(await shown()).toMatchObject({ state: 'holding', fallback_available: true })
    // The oracle's decision is not certain any more: the first settlement on the chain counts.
    await expectListed(life, at('day 68'))
    // The indexer stands still, so that the state between the fallback and its indexed event can be observed.
    life.nodes.only = [life.nodes.only ?? [], 'eth_getLogs'].flat()
    for (const name of Object.keys(enqueued)) {
      await act(life, life.market.accounts.stranger, 'settleFallback', life.called(name).deposit)
    }
    const holding = await ask(life, `/v1/escrow/${deposit.escrowId}/status?agent_id=${author.agentId}`)
    expect(holding).toMatchObject({ held_back: { status: 'claimable' }, fallback_available: false })
    expect(holding).not.toHaveProperty('state')
    await expectListed(life, at('day 68'))
    life.nodes.only = undefined
    await life.oracleSettles()
    await expectAll(life, at('day 70'))
  })

  it('leaves nothing behind: what buyers paid is with merchant, authors, buyers and treasury, to the unit', async () => {
    const { market } = life
    const { merchant, treasury, stranger } = market.accounts
    const { CommissionEscrow, SplitRouter } = market.addresses
    const all = [...life.purchases.values()]
    const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
    const before = await usdcOf(life, treasury.address)
    await send(life, call(life, stranger, 'CommissionEscrow', 'collectFees', []))
    const fees = sum(all.map(({ shares }) => shares.fee))
    expect((await usdcOf(life, treasury.address)) - before).toBe(fees)
    expect([await usdcOf(life, CommissionEscrow), await usdcOf(life, SplitRouter)]).toEqual([0n, 0n])
    const payers = [...life.buyers, life.wallet].map(({ account }) => account)
    const others = [...Object.values(life.authors).map(({ account }) => account), merchant, treasury]
    const total = async (accounts: typeof payers) =>
      sum(await Promise.all(accounts.map(({ address }) => usdcOf(life, address))))
    const spent = BigInt(payers.length) * SAVINGS - (await total(payers))
    expect(await total(others)).toBe(spent)
    const paidBack = ['earned', 'bound', 'contradicted', 'cleared', 'late'].map((name) => life.called(name))
    const cashback = sum(paidBack.map(({ shares }) => shares.cashback))
    expect(spent + cashback).toBe(sum(all.map(({ deposit }) => deposit.price)))
  })
})
