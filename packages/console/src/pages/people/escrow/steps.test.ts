import { describe, expect, it } from 'vitest'
import {
  cashbackState,
  type Escrow,
  fallbackState,
  reviewState,
  settlementState,
  sharesOf,
  tasksOf,
} from './steps.ts'

const ADDRESS = '0x00000000000000000000000000000000000000aa'
const HASH = `0x${'11'.repeat(32)}` as const
const BEFORE = Date.parse('2026-11-20T00:00:00Z')
const BETWEEN = Date.parse('2027-01-12T00:00:00Z')
const AFTER = Date.parse('2027-02-01T00:00:00Z')

const bought: Escrow = {
  escrow_id: 7,
  happened_at: '2026-11-10T00:00:00Z',
  merchant_id: 0,
  product_id: HASH,
  product_name: 'Daylight',
  review_id: 3,
  review_internal_id: 3,
  reviewer_agent_id: 5,
  buyer_agent_id: 9,
  payer: ADDRESS,
  price_usdc: 10_000,
  commission_usdc: 783,
  immediate_usdc: 294,
  held_back_usdc: 294,
  cashback_usdc: 117,
  fee_usdc: 78,
  transaction: HASH,
  state: 'holding',
  window_end: '2027-01-09T00:00:00Z',
  fallback_at: '2027-01-19T00:00:00Z',
  buyer_review: null,
  votes: [],
  cashback: { amount: 117, status: 'pending_buyer_review', released_at: null, transaction: null },
  held_back: { amount: 294, status: 'pending', settled_at: null, recipient: null, transaction: null },
  review_outcome: 'pending',
}
const review: NonNullable<Escrow['buyer_review']> = {
  internal_id: 12,
  on_chain_id: 12,
  published_at: '2026-11-12T00:00:00Z',
  satisfaction_score: 0.75,
}
const vote: Escrow['votes'][number] = {
  review_internal_id: 4,
  review_id: 4,
  author_agent_id: 6,
  reasoning: 'It told me what to check first.',
  qualifies: true,
  cast_at: '2026-11-12T00:00:00Z',
}
const cashback = (status: Escrow['cashback']['status']): Escrow['cashback'] => ({
  ...bought.cashback,
  status,
})
const settled = (changes: Partial<Escrow['held_back']> = {}): Partial<Escrow> => ({
  state: 'settled',
  held_back: {
    amount: 294,
    status: 'released',
    settled_at: '2027-01-09T00:05:00Z',
    recipient: 'reviewer',
    transaction: HASH,
    ...changes,
  },
})
const open = (escrow: Escrow) =>
  tasksOf(escrow)
    .filter(({ isDone }) => !isDone)
    .map(({ what }) => what)

describe('what a buyer has to do for the cashback', () => {
  it('is to vote, then to review', () => expect(open(bought)).toEqual(['vote', 'review']))

  it('begins with an agent when a wallet without one paid', () =>
    expect(open({ ...bought, buyer_agent_id: null })).toEqual(['bind', 'vote', 'review']))

  it('is what is not done yet', () => {
    expect(open({ ...bought, votes: [vote] })).toEqual(['review'])
    expect(open({ ...bought, buyer_review: review })).toEqual(['vote'])
    const unknown = { ...review, satisfaction_score: null }
    expect(open({ ...bought, votes: [vote], buyer_review: unknown })).toEqual(['register'])
  })

  it('is nothing once it is earned, also where there was nothing to vote on', () => {
    for (const status of ['claimable', 'released'] as const)
      expect(open({ ...bought, buyer_review: review, cashback: cashback(status) })).toEqual([])
  })

  it('is nothing where no cashback was promised', () => {
    expect(tasksOf({ ...bought, cashback: { ...cashback('none'), amount: 0 } })).toEqual([])
    expect(tasksOf({ ...bought, cashback: cashback('pending') })).toEqual([])
  })
})

describe('the steps of a purchase', () => {
  const states = (escrow: Escrow, nowMs: number) => [
    reviewState(escrow),
    cashbackState(escrow),
    settlementState(escrow, nowMs),
    fallbackState(escrow, nowMs),
  ]

  it('wait for the buyer at first', () =>
    expect(states(bought, BEFORE)).toEqual(['now', 'later', 'later', 'later']))

  it('go on without the buyer when nothing is promised', () => {
    const none: Escrow = { ...bought, cashback: { ...cashback('none'), amount: 0 } }
    expect(states(none, BEFORE)).toEqual(['now', 'not needed', 'later', 'later'])
    expect(states({ ...none, ...settled() }, AFTER)).toEqual([
      'not needed',
      'not needed',
      'done',
      'not needed',
    ])
  })

  it('end well when the buyer reviews in time', () => {
    const reviewed: Escrow = {
      ...bought,
      votes: [vote],
      buyer_review: review,
      cashback: cashback('claimable'),
    }
    expect(states(reviewed, BEFORE)).toEqual(['done', 'now', 'later', 'later'])
    const paid: Escrow = { ...reviewed, ...settled(), cashback: cashback('released') }
    expect(states(paid, AFTER)).toEqual(['done', 'done', 'done', 'not needed'])
  })

  it('are missed when the buyer does nothing', () =>
    expect(states({ ...bought, ...settled(), cashback: cashback('window_closed') }, AFTER)).toEqual([
      'missed',
      'missed',
      'done',
      'not needed',
    ]))

  it('wait for the oracle after 60 days, then for anybody', () => {
    expect(states(bought, BETWEEN).slice(2)).toEqual(['now', 'later'])
    expect(states(bought, AFTER).slice(2)).toEqual(['now', 'now'])
    expect(fallbackState({ ...bought, fallback_at: null }, AFTER)).toBe('later')
  })

  it('tell a settlement by somebody else from a late one of ours', () => {
    const late = { settled_at: '2027-01-25T00:00:00Z', recipient: 'treasury' } as const
    expect(fallbackState({ ...bought, ...settled(late) }, AFTER)).toBe('not needed')
    expect(fallbackState({ ...bought, ...settled({ ...late, transaction: null }) }, AFTER)).toBe('done')
  })
})

it('the shares of a price add up to it', () => {
  const total = sharesOf(bought).reduce((sum, { amount }) => sum + amount, 0)
  expect(total).toBe(bought.price_usdc)
})
