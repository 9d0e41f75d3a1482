// Votes that are cast: for which reviews and purchases, how often, and their effects.
import { listProduct, openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type TypedDataDefinition, verifyTypedData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { signedBody, VOTES, vote, voteBody } from './commitments.ts'
import { ACCEPTING, giveToContract } from './contract-wallets.ts'
import { act } from './escrows.ts'
import { buy, generic, productOf } from './market.ts'
import { internalIdOf, publish, register } from './reviews.ts'
import {
  answerTo,
  ballotOf,
  type Review,
  recorded,
  refusal,
  review,
  STEP1,
  STEP2,
  signedBallot,
  startVoting,
  storedVotes,
  type Voting,
  votesCast,
} from './voting.ts'

/** The function of ERC-1271. */
const IS_VALID_SIGNATURE = '0x1626ba7e'
const NOT_FOUND = refusal(404, 'not found')
const already = (escrowId: bigint) =>
  refusal(409, `votes already submitted for purchase record ${escrowId}: already exists`)

let v: Voting
let products = 100

beforeAll(async () => {
  v = await startVoting()
})
afterAll(() => v.m.close())

const cast = async (escrowId: bigint, ...votes: number[]) =>
  answerTo(v, await signedBallot(v, escrowId, votes.length ? votes : undefined))

async function newProduct(merchantId = v.merchantId): Promise<Product> {
  products += 1
  const product = { merchantId, productId: productOf(products) }
  await listProduct(v.m.market, v.m.market.accounts.merchant, product)
  return product
}

/** A new product, reviewed only by the author of the link. */
async function newlyReviewed(): Promise<{ product: Product; link: Review }> {
  const product = await newProduct()
  return { product, link: await review(v.m, v.link.owner, v.link.agentId, product) }
}

const boughtThrough = (product: Product, { reviewId, agentId }: Review) =>
  v.bought({ product, reviewId, reviewerAgentId: agentId })

const ofEscrow = async (escrowId: bigint) =>
  (await storedVotes(v.m, v.buyer.agentId)).filter(({ escrow_id }) => escrow_id === escrowId)

describe('votes on the reviews that informed a purchase', () => {
  it.each([1, 2, 3])('are cast, %i at once [VOTE-01, VOTE-37, VOTE-38, VOTE-39, VOTE-76]', async (count) => {
    const { escrowId } = await v.bought()
    const before = await votesCast(v.m, v.buyer.agentId)
    const ids = v.others.map(({ internalId }) => internalId).slice(0, count)
    expect(await cast(escrowId, ...ids)).toEqual(recorded(count))
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before + count)
  })

  it('raise the count in the digest of the voter, and of nobody else [CTX-32]', async () => {
    const { escrowId } = await v.bought()
    const agents = [v.buyer, v.link, ...v.others].map(({ agentId }) => agentId)
    const counts = () => Promise.all(agents.map((agentId) => votesCast(v.m, agentId)))
    const [own = 0, ...others] = await counts()
    await cast(escrowId, v.others[0].internalId, v.others[2].internalId)
    expect(await counts()).toEqual([own + 2, ...others])
  })

  it('are stored as they were sent, with the signature that stands for them [VOTE-39]', async () => {
    const { escrowId } = await v.bought()
    const votes = [
      { review_id: v.others[2].internalId, reasoning: ' It said “slow”, and slow it was. 🐌 ' },
      { review_id: v.others[0].internalId, reasoning: "Robert'); DROP TABLE votes;--" },
    ]
    const { owner } = v.buyer
    const body = ballotOf(v, escrowId, votes)
    const { commitment, nonce, expiry } = await must(v.m.call('POST', STEP1, { as: owner, body }))
    const agent_sig = await owner.signTypedData(commitment as TypedDataDefinition)
    expect(await answerTo(v, { ...body, nonce, expiry, agent_sig })).toEqual(recorded(2))
    expect(await ofEscrow(escrowId)).toMatchObject(
      votes.map(({ review_id, reasoning }, at) => ({
        review_internal_id: BigInt(review_id),
        reasoning,
        position: at + 1,
        qualifies: true,
      })),
    )
    const [ballot] = await v.m.sql`
      SELECT '0x' || encode(votes_hash, 'hex') AS "votesHash", '0x' || encode(commitment_nonce, 'hex') AS nonce, expiry,
        '0x' || encode(signature, 'hex') AS signature, voter_agent_id, escrow_id
      FROM market.ballots WHERE escrow_id = ${escrowId}`
    const { signature, voter_agent_id: agentId, escrow_id, ...signed } = ballot ?? {}
    const message = { ...signed, agentId, escrowId: escrow_id }
    const data = { ...commitment, message, address: owner.address, signature }
    expect(await verifyTypedData(data as Parameters<typeof verifyTypedData>[0])).toBe(true)
  })

  it('name reviews by their internal ids, not by those on the chain [VOTE-08]', async () => {
    const { escrowId } = await v.bought()
    const { internalId, reviewId } = v.others[1]
    expect(Number(reviewId)).not.toBe(internalId)
    expect(await cast(escrowId, Number(reviewId))).toEqual(NOT_FOUND)
    expect(await cast(escrowId, internalId)).toEqual(recorded(1))
    expect(await ofEscrow(escrowId)).toMatchObject([{ review_internal_id: BigInt(internalId) }])
  })

  it.each([
    ['that was there before the purchase', 'before'],
    ['that came after it', 'after'],
  ])('may be on a review %s [VOTE-76]', async (_what, when) => {
    const { product, link } = await newlyReviewed()
    const write = () => review(v.m, v.others[0].owner, v.others[0].agentId, product)
    const early = when === 'before' ? await write() : undefined
    const { escrowId } = await boughtThrough(product, link)
    expect(await cast(escrowId, (early ?? (await write())).internalId)).toEqual(recorded(1))
  })
})

describe('votes are refused', () => {
  it('on a review whose text is not here [VOTE-52]', async () => {
    const { escrowId } = await v.bought()
    const { owner, agentId } = v.others[0]
    const written = { owner, agentId, product: v.product, content: generic(3, 'Nobody brought this') }
    const reviewId = await publish(v.m.market, written)
    await v.m.indexed()
    const id = await internalIdOf(v.m, v.m.chainId, reviewId)
    const error = `review ${id} is not published: invalid input`
    expect(await cast(escrowId, id)).toEqual(refusal(400, error))
    expect(await cast(escrowId, v.others[0].internalId, id)).toEqual(refusal(400, error))
    expect(await ofEscrow(escrowId)).toEqual([])
    const body = { review_id: reviewId, escrow_id: 0, content_json: written.content }
    await must(register(v.m, body))
    expect(await cast(escrowId, id)).toEqual(recorded(1))
  })

  it('on a review of another product, even one of the same id [VOTE-53]', async () => {
    const { escrowId } = await v.bought()
    const { owner, agentId } = v.others[0]
    const elsewhere = {
      ...v.product,
      merchantId: await openMerchant(v.m.market, v.m.market.accounts.merchant),
    }
    await listProduct(v.m.market, v.m.market.accounts.merchant, elsewhere)
    for (const product of [await newProduct(), elsewhere]) {
      const { internalId } = await review(v.m, owner, agentId, product)
      const error = `review ${internalId} is not for the same product as this purchase: invalid input`
      expect(await cast(escrowId, internalId)).toEqual(refusal(400, error))
      expect(await cast(escrowId, v.others[1].internalId, internalId)).toEqual(refusal(400, error))
    }
    expect(await ofEscrow(escrowId)).toEqual([])
    expect(await cast(escrowId)).toEqual(recorded(1))
  })

  it('on the review whose link was bought through, and not on others of its author [VOTE-54]', async () => {
    const { escrowId } = await v.bought()
    const error = 'cannot vote for the ref-link review of this purchase: invalid input'
    expect(await cast(escrowId, v.link.internalId)).toEqual(refusal(400, error))
    expect(await cast(escrowId, v.others[0].internalId, v.link.internalId)).toEqual(refusal(400, error))
    expect(await ofEscrow(escrowId)).toEqual([])
    const another = await review(v.m, v.link.owner, v.link.agentId, v.product)
    expect(await cast(escrowId, another.internalId)).toEqual(recorded(1))
    const { escrowId: through } = await boughtThrough(v.product, v.others[0])
    expect(await cast(through, v.link.internalId)).toEqual(recorded(1))
  })

  it('for the first vote that is wrong', async () => {
    const { escrowId } = await v.bought()
    const elsewhere = await review(v.m, v.others[0].owner, v.others[0].agentId, await newProduct())
    const link = 'cannot vote for the ref-link review of this purchase: invalid input'
    const other = `review ${elsewhere.internalId} is not for the same product as this purchase: invalid input`
    expect(await cast(escrowId, v.link.internalId, elsewhere.internalId)).toEqual(refusal(400, link))
    expect(await cast(escrowId, elsewhere.internalId, v.link.internalId)).toEqual(refusal(400, other))
    expect(await cast(escrowId, v.link.internalId, 99_999_999)).toEqual(refusal(400, link))
  })

  it('in one and the same way when there is nothing to vote on or for [VOTE-57, VOTE-58, VOTE-59, VOTE-60, VOTE-61]', async () => {
    const { walletBuyer } = v.m.market.accounts
    const another = await registerIdentity(v.m.market, v.buyer.owner)
    const [own, foreign] = [await v.bought(), await v.bought({ buyerAgentId: another })]
    const agentless = await v.bought({ buyerAgentId: 2n ** 256n - 1n }, walletBuyer)
    const ballots = {
      'no purchase': ballotOf(v, 99_999_999n),
      'purchase 0': ballotOf(v, 0n),
      'purchase of another agent': ballotOf(v, foreign.escrowId),
      'no review': ballotOf(v, own.escrowId, [99_999_999]),
      'review 0': ballotOf(v, own.escrowId, [v.others[0].internalId, 0]),
      'purchase without an agent': ballotOf(v, agentless.escrowId),
    }
    const answers = Object.entries(ballots).map(async ([what, body]) => {
      const signed = await signedBody(v.m, VOTES, { as: v.buyer.owner, body })
      const { status, text } = await v.m.call('POST', STEP2, { as: v.buyer.owner, body: signed })
      return [what, status, text]
    })
    expect(await Promise.all(answers)).toEqual(
      Object.keys(ballots).map((what) => [what, 404, '{"error":"not found"}']),
    )
    expect(await ofEscrow(own.escrowId)).toEqual([])
  })

  it('until the purchase is in the records [VOTE-57]', async () => {
    await v.m.indexed()
    v.m.nodes.only = 'eth_getLogs'
    let body: Awaited<ReturnType<typeof signedBallot>>
    try {
      const { link, buyer, product } = v
      const through = { product, reviewId: link.reviewId, reviewerAgentId: link.agentId }
      const { escrowId } = await buy(v.m, buyer.owner, { ...through, buyerAgentId: buyer.agentId })
      body = await signedBallot(v, escrowId)
      expect(await answerTo(v, body)).toEqual(NOT_FOUND)
    } finally {
      v.m.nodes.only = undefined
    }
    await v.m.indexed()
    expect(await answerTo(v, body)).toEqual(recorded(1))
  })

  it('for a purchase that was voted for, whatever is sent [VOTE-62, VOTE-63]', async () => {
    const { escrowId } = await v.bought()
    const body = await signedBallot(v, escrowId)
    const later = await signedBallot(v, escrowId, [v.others[1].internalId, v.others[2].internalId])
    const wrong = await signedBallot(v, escrowId, [99_999_999])
    expect(await answerTo(v, body)).toEqual(recorded(1))
    const before = await votesCast(v.m, v.buyer.agentId)
    for (const again of [body, later, wrong]) expect(await answerTo(v, again)).toEqual(already(escrowId))
    expect(await cast(escrowId)).toEqual(already(escrowId))
    expect(await ofEscrow(escrowId)).toHaveLength(1)
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before)
  })
})

describe('votes that cannot be stored', () => {
  /** Votes are refused while something is broken, and accepted when it works again. */
  async function refusedWhile(broken: (work: () => Promise<void>) => Promise<void>, ...votes: number[]) {
    const { escrowId } = await v.bought()
    const before = await votesCast(v.m, v.buyer.agentId)
    const body = await signedBallot(v, escrowId, votes.length ? votes : undefined)
    await broken(async () => {
      expect(await answerTo(v, body)).toEqual(refusal(500, 'internal error'))
    })
    expect(await ofEscrow(escrowId)).toEqual([])
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before)
    expect(await answerTo(v, body)).toEqual(recorded(Math.max(votes.length, 1)))
  }

  const withoutAnswerTo = (piece: string) => async (work: () => Promise<void>) => {
    v.m.nodes.only = piece
    try {
      await work()
    } finally {
      v.m.nodes.only = undefined
    }
  }
  const ownerOf = (agentId: bigint) =>
    encodeFunctionData({ abi: identityRegistryAbi, functionName: 'ownerOf', args: [agentId] })

  it('are refused while the owner of a voted author cannot be read, and cast later [VOTE-65]', async () => {
    const [first, second] = v.others
    await refusedWhile(withoutAnswerTo(ownerOf(second.agentId)), first.internalId, second.internalId)
  })

  it('are refused while the owner of the voter cannot be read [VOTE-66]', async () => {
    await refusedWhile(withoutAnswerTo(ownerOf(v.buyer.agentId)))
  })

  it('are refused while the contract that owns the voter cannot be asked, and cast later [VOTE-66]', async () => {
    const { owner } = v.buyer
    const agentId = await registerIdentity(v.m.market, owner)
    const { escrowId } = await v.bought({ buyerAgentId: agentId })
    await giveToContract(v.m, owner, agentId, ACCEPTING)
    const body = voteBody({ agentId, escrowId, votes: [v.others[0].internalId] })
    const signed = await signedBody(v.m, VOTES, { as: owner, body })
    await withoutAnswerTo(IS_VALID_SIGNATURE)(async () => {
      expect(await answerTo(v, signed)).toEqual(refusal(500, 'internal error'))
    })
    expect(await storedVotes(v.m, agentId)).toEqual([])
    expect(await answerTo(v, signed)).toEqual(recorded(1))
  })

  it.each(['market.ballots', 'market.votes', 'market.pending_changes', 'chain.escrows'])(
    'are refused while %s is away, and leave nothing behind [VOTE-66]',
    (table) => refusedWhile((work) => v.m.withoutTable(table, work)),
  )
})

describe('the purchase of a wallet without an agent', () => {
  it('is voted for by the agent that it is bound to, from then on [ESC-53]', async () => {
    const { walletBuyer } = v.m.market.accounts
    const agentId = await registerIdentity(v.m.market, walletBuyer)
    const deposit = await v.bought({ buyerAgentId: 2n ** 256n - 1n }, walletBuyer)
    const ballot = { agentId, escrowId: deposit.escrowId, votes: [v.others[0].internalId] }
    const answer = async () => {
      const { status, body } = await vote(v.m, walletBuyer, ballot)
      return [status, body]
    }
    expect(await answer()).toEqual(NOT_FOUND)
    await act(v.m, walletBuyer, 'bind', deposit, agentId)
    await v.m.indexed()
    expect(await answer()).toEqual(recorded(1))
    expect(await answer()).toEqual(already(deposit.escrowId))
  })
})
