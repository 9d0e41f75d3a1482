// The expected state and money of purchases for each party, and functions that check them.
import { type Address, formatUnits } from 'viem'
import { expect } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { type Answer, must } from './caller.ts'
import { usdcOf } from './chain.ts'
import { standingOf } from './escrows.ts'
import { type Life, type Person, type Purchase, SAVINGS } from './lifecycle.ts'

/** Where the held-back part and the cashback of a purchase should be: with a party, or waiting for something. */
export interface Fate {
  heldBack: string
  cashback: string
}

/** By the name of the purchase. */
export type Fates = ReadonlyMap<string, Fate>

const isPaid = (where: string) => ['reviewer', 'treasury', 'buyer'].includes(where)

/** What a party should be shown of an escrow, besides its state. */
function shownOf({ deposit, author, buyer, shares }: Purchase, fate: Fate, agentId: bigint) {
  const isBuyer = buyer?.agentId === agentId
  const windowEnd = expect.toSatisfy((text) => Date.parse(text) === Number(deposit.windowEnd) * 1_000)
  return {
    escrow_id: Number(deposit.escrowId),
    role: isBuyer ? 'buyer' : 'reviewer',
    held_back: heldBackLeg(Number(shares.heldBack), fate.heldBack, windowEnd, author.agentId === agentId),
    cashback: cashbackLeg(Number(shares.cashback), fate.cashback, isBuyer),
    window_end: windowEnd,
    fallback_available: false,
  }
}

function heldBackLeg(amount: number, where: string, eligible_at: unknown, isReviewer: boolean) {
  if (isPaid(where)) return { amount, status: where === 'reviewer' ? 'released' : 'window_closed' }
  if (where === 'claimable') return { amount, status: 'claimable' }
  const action = where === 'contested' && isReviewer && { action_needed: expect.stringMatching(/dispute/i) }
  return { amount, status: 'pending', ...action, eligible_at }
}

/** The remaining steps, in this order. */
const STEPS = ['vote', 'publish', 'register']

function cashbackLeg(amount: number, where: string, isBuyer: boolean) {
  if (where === 'none') return { amount: 0, status: 'none' }
  if (isPaid(where)) return { amount, status: where === 'buyer' ? 'released' : 'window_closed' }
  if (where === 'claimable') return { amount, status: 'claimable' }
  const left = STEPS.slice(STEPS.indexOf(where))
  const action = expect.toSatisfy((text: string) =>
    STEPS.every((step) => new RegExp(`\\b${step}\\b`).test(text) === left.includes(step)),
  )
  return { amount, status: 'pending_buyer_review', ...(isBuyer && { action_needed: action }) }
}

/** The expected earnings of an agent from these purchases, as in `GET /v1/agent/{id}/earnings`. */
function earnedBy(agentId: bigint, lives: readonly { purchase: Purchase; fate: Fate }[]) {
  const sum = (amounts: bigint[]) => Number(amounts.reduce((total, amount) => total + amount, 0n))
  const reviewed = lives.filter(({ purchase }) => purchase.author.agentId === agentId)
  const bought = lives.filter(({ purchase }) => purchase.buyer?.agentId === agentId)
  const immediate = sum(reviewed.map(({ purchase }) => purchase.shares.immediate))
  const settled = sum(
    reviewed.flatMap(({ purchase: { shares }, fate }) => [
      fate.heldBack === 'reviewer' ? shares.heldBack : 0n,
      fate.cashback === 'reviewer' ? shares.cashback : 0n,
    ]),
  )
  const open = reviewed.filter(({ fate }) => !isPaid(fate.heldBack))
  const heldBack = sum(open.map(({ purchase }) => purchase.shares.heldBack))
  const got = bought.filter(({ fate }) => fate.cashback === 'buyer')
  const total = sum(got.map(({ purchase }) => purchase.shares.cashback))
  const waiting = bought.filter(({ fate }) => !isPaid(fate.cashback))
  const cashback = sum(waiting.map(({ purchase }) => purchase.shares.cashback))
  return {
    commission: {
      immediate,
      held_back_settled: settled,
      held_back_pending: heldBack,
      total_realized: immediate + settled,
      total_potential: immediate + settled + heldBack,
    },
    cashback: { total, count: got.length },
    total_earnings: immediate + settled + total,
    escrow_pending: { held_back: heldBack, cashback, total: heldBack + cashback },
  }
}

/** The expected balance of an account with this initial balance. */
function balanceAfter(
  account: Address,
  savings: bigint,
  lives: readonly { purchase: Purchase; fate: Fate }[],
  places: { merchant: Address; treasury: Address },
): bigint {
  return lives.reduce((balance, { purchase: { deposit, author, payer, shares }, fate }) => {
    const payees: Record<string, Address> = {
      reviewer: author.account.address,
      treasury: places.treasury,
      buyer: payer.address,
    }
    const moved: [Address | undefined, bigint][] = [
      [payer.address, -deposit.price],
      [places.merchant, shares.merchant],
      [author.account.address, shares.immediate],
      [payees[fate.heldBack], shares.heldBack],
      [payees[fate.cashback], shares.cashback],
    ]
    return moved.reduce((sum, [payee, amount]) => (payee === account ? sum + amount : sum), balance)
  }, savings)
}

const partiesOf = ({ author, buyer }: Purchase) => [author, ...(buyer ? [buyer] : [])]
const everybodyIn = ({ authors, buyers, wallet }: Life): Person[] => [
  ...Object.values(authors),
  ...buyers,
  wallet,
]
const livesOf = (life: Life, fates: Fates) =>
  [...fates].map(([name, fate]) => ({ name, purchase: life.called(name), fate }))

export const ask = async ({ call, market }: Life, path: string) =>
  must(call('GET', path, { as: market.accounts.stranger }))

/** Expects the escrow lists of all agents to agree. */
export async function expectListed(life: Life, fates: Fates): Promise<void> {
  await Promise.all(
    everybodyIn(life).map(async ({ agentId }) => {
      const escrows = livesOf(life, fates)
        .filter(({ purchase }) => partiesOf(purchase).some((party) => party.agentId === agentId))
        .map(({ purchase, fate }) => shownOf(purchase, fate, agentId))
        .sort((one, other) => other.escrow_id - one.escrow_id)
      expect(await ask(life, `/v1/agent/${agentId}/escrows`), `list of ${agentId}`).toEqual({ escrows })
    }),
  )
}

/**
 * Values from the chain are left out of an answer if a busy machine does not read them in time; then the request is
 * repeated. While no node answers, they never come.
 */
const askWhole = (life: Life, path: string, isWhole: (body: Answer['body']) => boolean) =>
  until(async () => {
    const body = await ask(life, path)
    return life.nodes.isDown || isWhole(body) ? body : undefined
  }, `what ${path} has of the chain`)

/** The status of one escrow, with its state while a node answers. */
export const askStatus = (life: Life, { deposit: { escrowId } }: Purchase, agentId: bigint) =>
  askWhole(life, `/v1/escrow/${escrowId}/status?agent_id=${agentId}`, (body) => 'state' in body)

/** Expects the status of each escrow for each party; while no node answers, without its state. */
export async function expectStatus(life: Life, fates: Fates): Promise<void> {
  for (const { name, purchase, fate } of livesOf(life, fates)) {
    for (const { agentId } of partiesOf(purchase)) {
      const state = isPaid(fate.heldBack) ? 'settled' : 'holding'
      expect(await askStatus(life, purchase, agentId), `${name} to ${agentId}`).toEqual({
        ...shownOf(purchase, fate, agentId),
        ...(!life.nodes.isDown && { state }),
      })
    }
  }
}

/** Expects the contract's state, the earnings of all agents and the balances of all accounts. */
export async function expectMoney(life: Life, fates: Fates): Promise<void> {
  const lives = livesOf(life, fates)
  for (const { name, purchase, fate } of lives) {
    expect(await standingOf(life, purchase.deposit), name).toEqual({
      isSettled: isPaid(fate.heldBack),
      isBound: purchase.buyer !== undefined,
      isReleased: fate.cashback === 'buyer',
    })
  }
  const { merchant, treasury, oracle } = life.market.accounts
  const places = { merchant: merchant.address, treasury: treasury.address }
  const payers = [...life.buyers, life.wallet].map(({ account }) => account.address)
  const held = ({ address }: { address: Address }) =>
    balanceAfter(address, payers.includes(address) ? SAVINGS : 0n, lives, places)
  for (const account of [...everybodyIn(life).map((person) => person.account), merchant, treasury, oracle]) {
    expect(await usdcOf(life, account.address), `what ${account.address} has`).toBe(held(account))
  }
  for (const { agentId, account } of everybodyIn(life)) {
    const usdc_wallet_balance = formatUnits(held(account), 6)
    const earned = earnedBy(agentId, lives)
    const agent = `/v1/agent/${agentId}`
    const earnings = await askWhole(life, `${agent}/earnings`, (body) => 'usdc_wallet_balance' in body)
    expect(earnings, `what ${agentId} earned`).toEqual({ ...earned, usdc_wallet_balance })
    const digest = await askWhole(life, `${agent}/context`, (body) => 'usdc_wallet_balance' in body.earnings)
    expect(digest.actionable.escrow_pending).toEqual(earned.escrow_pending)
    expect(digest.earnings).toEqual({
      commission_realized: earned.commission.total_realized,
      commission_potential: earned.commission.total_potential,
      cashback_total: earned.cashback.total,
      cashback_count: earned.cashback.count,
      total_earnings: earned.total_earnings,
      usdc_wallet_balance,
    })
  }
}

/** `listed`: the expected lists, if they differ. */
export async function expectAll(life: Life, fates: Fates, listed: Fates = fates): Promise<void> {
  await life.indexed()
  await expectListed(life, listed)
  await expectStatus(life, fates)
  await expectMoney(life, fates)
}
