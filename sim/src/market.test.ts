import { MILLION } from '@referrer/ranking'
import { expect, test } from 'vitest'
import { DAY_MS } from './escrows.ts'
import { Market, rankInForce } from './market.ts'
import type { Agent, Product, Review } from './records.ts'

const START = Date.UTC(2026, 0, 1)
const USDC = 1_000_000n

/** A product that pays 0.07 USDC of commission through a newcomer's link, with a first review. */
function openMarket() {
  const market = new Market(START)
  let owners = 0
  const newcomer = (cashbackBps = 0): Agent => market.mint(++owners, { cashbackBps })
  const list = (): { product: Product; link: Review } => {
    const product = market.list(market.open(++owners), { type: 'repeat', price: USDC, commissionBps: 1_000 })
    return { product, link: market.publish(newcomer(2_000), product, MILLION) }
  }
  const pass = (days = 0) => {
    market.now += 1 + days * DAY_MS
    market.follow()
  }
  return { market, newcomer, list, pass, ...list() }
}

test('a purchase is divided, and what is held goes to the reviewer after sixty days', () => {
  const { market, newcomer, link, pass } = openMarket()
  pass()
  market.buy(link, newcomer())
  const paid = { buyers: -USDC, merchants: 930_000n, fees: 7_000n, treasury: 0n, cashback: 0n }
  expect(market.balances.check(market.purchases)).toEqual({ ...paid, reviewers: 24_500n, held: 38_500n })
  pass(59)
  expect(market.balances.check(market.purchases).held).toBe(38_500n)
  pass(1)
  expect(market.balances.check(market.purchases)).toEqual({ ...paid, reviewers: 63_000n, held: 0n })
})

test('cashback is paid as soon as the buyer has said what it thinks', () => {
  const { market, newcomer, link, pass } = openMarket()
  const purchase = market.buy(link, newcomer())
  pass()
  market.reviewPurchase(purchase, MILLION)
  pass()
  expect(market.balances.check(market.purchases)).toMatchObject({ cashback: 14_000n, held: 24_500n })
})

test('a buyer who had something to vote on votes before it reviews', () => {
  const { market, newcomer, product, link, pass } = openMarket()
  const other = market.publish(newcomer(), product, MILLION)
  pass()
  const purchase = market.buy(link, newcomer())
  expect(() => market.reviewPurchase(purchase, MILLION)).toThrow('vote for a review')
  expect(() => market.vote(purchase, [link])).toThrow('not for the one that sold it')
  market.vote(purchase, [other])
  expect(() => market.vote(purchase, [other])).toThrow('voted on once')
  expect(market.reviewPurchase(purchase, MILLION)).toMatchObject({
    opinion: { size: MILLION, weight: MILLION / 2 },
  })
})

test('three buyers who disagree contradict a review, and the treasury gets what was held', () => {
  const { market, newcomer, link, pass } = openMarket()
  for (const purchase of [1, 2, 3].map(() => market.buy(link, newcomer()))) market.reviewPurchase(purchase, 0)
  pass()
  expect(link.outcome).toBe('contradicted')
  expect(rankInForce(link.agent, 'repeat')).toBeCloseTo(6 / 15)
  pass(60)
  expect(market.balances.check(market.purchases)).toMatchObject({ treasury: 3n * 24_500n, held: 0n })
})

test('settling waits for the end of a dispute, but not for ever', () => {
  const { market, newcomer, link, pass } = openMarket()
  for (const purchase of [1, 2, 3].map(() => market.buy(link, newcomer()))) market.reviewPurchase(purchase, 0)
  pass()
  market.dispute(link)
  pass(60)
  expect(market.balances.check(market.purchases).held).toBe(3n * 24_500n)
  pass(8)
  expect(market.balances.check(market.purchases)).toMatchObject({ held: 0n, treasury: 0n })
})

test('a contradiction that an admin does not uphold is no evidence', () => {
  const { market, newcomer, link, pass } = openMarket()
  for (const purchase of [1, 2, 3].map(() => market.buy(link, newcomer()))) market.reviewPurchase(purchase, 0)
  pass()
  market.dispute(link)
  pass()
  expect(link.agent.ranks.repeat).not.toBeNull()
  market.resolve(link, false)
  pass()
  expect(link.agent.ranks.repeat).toBeNull()
})

test('the books do not close when a unit is missing', () => {
  const { market, newcomer, link } = openMarket()
  const purchase = market.buy(link, newcomer())
  purchase.split.heldBack += 1n
  expect(() => market.balances.check(market.purchases)).toThrow(
    'purchase 1 of 1000000 base units does not add up',
  )
})
