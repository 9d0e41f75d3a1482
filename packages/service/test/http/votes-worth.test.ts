// The effects of votes: they allow the review of the purchase, and raise the ranks of authors.
import {
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must, sessionOf } from './caller.ts'
import { send, transfer } from './chain.ts'
import { vote } from './commitments.ts'
import { publishBuyerReview } from './escrows.ts'
import { type Bought, productOf } from './market.ts'
import { register } from './reviews.ts'
import { type Review, recorded, review, startVoting, storedVotes, type Voting, votesCast } from './voting.ts'

const CONFLICT = [409, { error: expect.stringMatching(/.: conflict$/) }]
/** Weight in millionths of a vote by a voter without a rank, for a purchase that counts in full. */
const COLD = { repeat: 625_000, oneOff: 562_750 }

let v: Voting
let products = 200

beforeAll(async () => {
  v = await startVoting()
})
afterAll(() => v.m.close())

interface Voter {
  owner: LocalAccount
  agentId: bigint
}

const newVoter = async (owner: LocalAccount = v.buyer.owner): Promise<Voter> => ({
  owner,
  agentId: await registerIdentity(v.m.market, owner),
})

async function cast({ owner, agentId }: Voter, escrowId: bigint, ...reviews: Pick<Review, 'internalId'>[]) {
  const votes = reviews.map(({ internalId }) => internalId)
  const { status, body } = await vote(v.m, owner, { agentId, escrowId, votes })
  return [status, body]
}

/** Buys, votes, and returns the weights of the votes. */
async function worth(voter: Voter, reviews: Pick<Review, 'internalId'>[], bought: Partial<Bought> = {}) {
  const deposit = await v.bought({ buyerAgentId: voter.agentId, ...bought }, voter.owner)
  expect(await cast(voter, deposit.escrowId, ...reviews)).toEqual(recorded(reviews.length))
  const stored = (await storedVotes(v.m, voter.agentId)).filter(
    ({ escrow_id }) => escrow_id === deposit.escrowId,
  )
  return stored.map(({ qualifies, weight }) => ({ qualifies, weight }))
}

/** Reviewed only by the author of the link. */
async function newProduct(oneOff = false): Promise<{ product: Product; bought: Partial<Bought> }> {
  products += 1
  const product = { merchantId: v.merchantId, productId: productOf(products) }
  await listProduct(v.m.market, v.m.market.accounts.merchant, product, { oneOff })
  const { reviewId } = await review(v.m, v.link.owner, v.link.agentId, product)
  return { product, bought: { product, reviewId, reviewerAgentId: v.link.agentId } }
}

describe('votes on reviews of the buyer’s own owner', () => {
  it('are a conflict when the purchase needs another vote and there is none, and nothing is stored [VOTE-73]', async () => {
    const voter = await newVoter()
    const [sister, own] = [
      await review(v.m, v.buyer.owner, (await newVoter()).agentId, v.product),
      await review(v.m, v.buyer.owner, voter.agentId, v.product),
    ]
    const { escrowId } = await v.bought({ buyerAgentId: voter.agentId })
    for (const reviews of [[sister], [own], [own, sister]]) {
      expect(await cast(voter, escrowId, ...reviews)).toEqual(CONFLICT)
      expect(await storedVotes(v.m, voter.agentId)).toEqual([])
      expect(await votesCast(v.m, voter.agentId)).toBe(0)
    }
    expect(await cast(voter, escrowId, sister, v.others[0], own)).toEqual(recorded(3))
    const votes = await storedVotes(v.m, voter.agentId)
    expect(votes.map(({ qualifies, weight }) => [qualifies, weight])).toEqual([
      [false, 0],
      [true, COLD.repeat],
      [false, 0],
    ])
    expect(await votesCast(v.m, voter.agentId)).toBe(3)
  })

  it('are stored, and count for nothing, when the purchase needs none', async () => {
    const voter = await newVoter()
    const { product, bought } = await newProduct()
    const own = await review(v.m, voter.owner, voter.agentId, product)
    expect(await worth(voter, [own], bought)).toEqual([{ qualifies: false, weight: 0 }])
    expect(await votesCast(v.m, voter.agentId)).toBe(1)
  })

  it('are told by who owns the author now, on the chain', async () => {
    const [voter, author] = [await newVoter(), await newVoter(v.m.market.accounts.stranger)]
    const { product, bought } = await newProduct()
    const theirs = await review(v.m, author.owner, author.agentId, product)
    expect(await worth(voter, [theirs], bought)).toEqual([{ qualifies: true, weight: COLD.repeat }])
    const { escrowId } = await v.bought({ buyerAgentId: voter.agentId, ...bought })
    v.m.nodes.only = 'eth_getLogs'
    try {
      const given = [author.owner.address, voter.owner.address, author.agentId]
      await send(v.m, call(v.m, author.owner, 'IdentityRegistry', 'transferFrom', given))
      // The records do not have it yet, so they require a vote for the purchase.
      expect(await cast(voter, escrowId, theirs)).toEqual(CONFLICT)
    } finally {
      v.m.nodes.only = undefined
    }
    await v.m.indexed()
    expect(await cast(voter, escrowId, theirs)).toEqual(recorded(1))
    const [, later] = await storedVotes(v.m, voter.agentId)
    expect(later).toMatchObject({ qualifies: false, weight: 0 })
  })
})

describe('the review of a purchase that needs a vote', () => {
  it('is registered once the votes are cast [REV-94]', async () => {
    const voter = await newVoter()
    const [deposit, other] = [
      await v.bought({ buyerAgentId: voter.agentId }),
      await v.bought({ buyerAgentId: voter.agentId }),
    ]
    const body = await publishBuyerReview(v.m, voter.owner, deposit)
    await v.m.indexed()
    const registering = async () => {
      const answer = await register(v.m, body)
      return [answer.status, answer.body]
    }
    expect(await registering()).toEqual(CONFLICT)
    expect(await cast(voter, other.escrowId, v.others[0])).toEqual(recorded(1))
    expect(await registering(), 'votes of another purchase').toEqual(CONFLICT)
    expect(await cast(voter, deposit.escrowId, v.others[0])).toEqual(recorded(1))
    expect(await registering()).toMatchObject([200, { status: 'buyer_review_registered' }])
  })
})

describe('a vote is worth', () => {
  it.each([
    ['in full', 'from 10,000 of commission on', { price: 100_000n }, 625_000],
    ['in full', 'above it', { price: 50_000_000n }, 625_000],
    ['less', 'just below it', { price: 99_999n }, 624_938],
    ['less', 'by the commission that was paid', { price: 100_000n, commissionMultiplierBps: 4_000 }, 250_000],
    ['next to nothing', 'for one unit of commission', { price: 10n }, 63],
    ['nothing', 'without commission', { price: 9n }, 0],
  ])('%s %s', async (_much, _when, bought, weight) => {
    expect(await worth(await newVoter(), [v.others[0]], bought)).toEqual([{ qualifies: true, weight }])
  })

  it('as much for each of three owners, by what is told of newcomers of that type of product', async () => {
    const voter = await newVoter()
    const full = { qualifies: true, weight: COLD.repeat }
    expect(await worth(voter, [...v.others])).toEqual([full, full, full])
    const { product, bought } = await newProduct(true)
    const theirs = await review(v.m, v.others[0].owner, v.others[0].agentId, product)
    expect(await worth(voter, [theirs], bought)).toEqual([{ qualifies: true, weight: COLD.oneOff }])
  })

  it('nothing from the second on for one author’s owner, with however many agents', async () => {
    const { product, bought } = await newProduct()
    const [one, other] = [v.others[0], v.others[1]]
    const sister = await registerIdentity(v.m.market, one.owner)
    const [first, again, ofSister, ofOther] = [
      await review(v.m, one.owner, one.agentId, product),
      await review(v.m, one.owner, one.agentId, product),
      await review(v.m, one.owner, sister, product),
      await review(v.m, other.owner, other.agentId, product),
    ]
    const full = { qualifies: true, weight: COLD.repeat }
    const nothing = { qualifies: true, weight: 0 }
    const voter = await newVoter()
    expect(await worth(voter, [first, again, ofOther], bought)).toEqual([full, nothing, full])
    // The order on the ballot counts, not that of publication.
    expect(await worth(voter, [ofSister, ofOther, first], bought)).toEqual([full, full, nothing])
    expect(await worth(voter, [again], bought), 'on a ballot of its own').toEqual([full])
  })

  it('nothing beside an older agent that came to the same owner, as the chain has it now', async () => {
    const { product, bought } = await newProduct()
    const [one, other] = [v.others[0], v.others[1]]
    const sold = await registerIdentity(v.m.market, one.owner)
    const reviews = [
      await review(v.m, other.owner, other.agentId, product),
      await review(v.m, one.owner, sold, product),
    ]
    const weights = async () => (await worth(await newVoter(), reviews, bought)).map(({ weight }) => weight)
    expect(await weights()).toEqual([COLD.repeat, COLD.repeat])
    await transfer(v.m, one.owner, other.owner.address, sold)
    expect(await weights()).toEqual([COLD.repeat, 0])
  })

  it('what the voter’s rank for that type of product makes of it, and stays so', async () => {
    const [ranked, admirer] = [await newVoter(v.m.market.accounts.publisher), await newVoter()]
    const oneOff = await newProduct(true)
    const theirs = await review(v.m, v.others[0].owner, v.others[0].agentId, oneOff.product)
    await mintUsdc(v.m.market, ranked.owner.address, 100_000_000n)
    expect(await worth(ranked, [v.others[0]])).toEqual([{ qualifies: true, weight: COLD.repeat }])
    const praised = await review(v.m, ranked.owner, ranked.agentId, v.product)
    await worth(admirer, [praised])
    const rank: number = await until(async () => {
      const path = `/v1/review-rank/${ranked.agentId}`
      return (await must(v.m.call('GET', path, { as: ranked.owner }))).repeat.rank
    }, 'a rank')
    expect(rank).toBeGreaterThan(0.5)
    const weight = Math.round((0.25 + 0.75 * rank) * 1_000_000)
    expect(await worth(ranked, [v.others[0]])).toEqual([{ qualifies: true, weight }])
    expect(await worth(ranked, [v.others[0]], { price: 50_000n })).toEqual([
      { qualifies: true, weight: Math.round((0.25 + 0.75 * rank) * 500_000) },
    ])
    expect(await worth(ranked, [theirs], oneOff.bought)).toEqual([{ qualifies: true, weight: COLD.oneOff }])
    expect((await storedVotes(v.m, ranked.agentId))[0]).toMatchObject({ weight: COLD.repeat })
  })

  it('nothing when the voter is flagged, and what it was worth before stays', async () => {
    const voter = await newVoter()
    await v.m.indexed()
    const token = await sessionOf(v.m.call, v.m.market.accounts.admin)
    const admin = (act: string) => must(v.m.call('POST', `/admin/agents/${voter.agentId}/${act}`, { token }))
    await worth(voter, [v.others[0]])
    await admin('flag')
    expect(await worth(voter, [v.others[0]])).toEqual([{ qualifies: true, weight: 0 }])
    await admin('unflag')
    await worth(voter, [v.others[0]])
    const weights = (await storedVotes(v.m, voter.agentId)).map(({ weight }) => weight)
    expect(weights).toEqual([COLD.repeat, 0, COLD.repeat])
  })

  it('nothing when the merchant’s owner casts it', async () => {
    const { merchant } = v.m.market.accounts
    expect(await worth(await newVoter(merchant), [v.others[0]])).toEqual([{ qualifies: true, weight: 0 }])
  })

  it('nothing when it is for the merchant’s owner, and no less for others on the same ballot', async () => {
    const { merchant } = v.m.market.accounts
    const theirs = await review(v.m, merchant, (await newVoter(merchant)).agentId, v.product)
    expect(await worth(await newVoter(), [v.others[0], theirs, v.others[1]])).toEqual([
      { qualifies: true, weight: COLD.repeat },
      { qualifies: true, weight: 0 },
      { qualifies: true, weight: COLD.repeat },
    ])
  })

  it('nothing when the merchant was handed to the voter’s owner, and something again for who gave it away', async () => {
    const { merchant, guardian } = v.m.market.accounts
    const merchantId = await openMerchant(v.m.market, merchant)
    const product = { merchantId, productId: productOf(1) }
    await listProduct(v.m.market, merchant, product)
    const [link, theirs] = [
      await review(v.m, v.link.owner, v.link.agentId, product),
      await review(v.m, v.others[0].owner, v.others[0].agentId, product),
    ]
    const bought = { product, reviewId: link.reviewId, reviewerAgentId: link.agentId }
    const [seller, taker] = [await newVoter(merchant), await newVoter(guardian)]
    await mintUsdc(v.m.market, guardian.address, 100_000_000n)
    const purchases: bigint[] = []
    for (const { agentId, owner } of [seller, taker, seller, taker]) {
      purchases.push((await v.bought({ ...bought, buyerAgentId: agentId }, owner)).escrowId)
    }
    const [first, second, third, fourth] = purchases as [bigint, bigint, bigint, bigint]
    await cast(seller, first, theirs)
    await cast(taker, second, theirs)
    await transfer(v.m, merchant, guardian.address, merchantId)
    await cast(seller, third, theirs)
    await cast(taker, fourth, theirs)
    const weights = async ({ agentId }: Voter) =>
      (await storedVotes(v.m, agentId)).map(({ weight }) => weight)
    expect(await weights(seller)).toEqual([0, COLD.repeat])
    expect(await weights(taker)).toEqual([COLD.repeat, 0])
  })
})
