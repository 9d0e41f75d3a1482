// Concurrent votes, votes across reorganisations, and votes for purchases of replaced contracts.
import { escrowDeposits, registerIdentity, settlePurchases, signPurchase } from '@referrer/contracts/local'
import { numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import type { Call } from '../forking-chain.ts'
import { deploySuccessors } from '../replaced-contracts.ts'
import { type Answer, type Caller, callerOf } from './caller.ts'
import { send } from './chain.ts'
import { signedBody, VOTES, voteBody } from './commitments.ts'
import { buy } from './market.ts'
import {
  answerTo,
  recorded,
  refusal,
  review,
  STEP2,
  signedBallot,
  startVoting,
  storedVotes,
  type Voting,
  votesCast,
} from './voting.ts'

const MANY = 40

let v: Voting
let second: Service
/** The same market through each of its replicas. */
let replicas: [Caller, Caller]

beforeAll(async () => {
  v = await startVoting()
  second = await startService(v.m.service.context.config)
  replicas = [v.m.call, callerOf(second.url)]
})
afterAll(async () => {
  await second.stop()
  await v.m.close()
})

const already = (escrowId: bigint) =>
  refusal(409, `votes already submitted for purchase record ${escrowId}: already exists`)
const ofEscrow = async (escrowId: bigint, agentId = v.buyer.agentId) =>
  (await storedVotes(v.m, agentId)).filter(({ escrow_id }) => escrow_id === escrowId)
const cast = async (escrowId: bigint, ...votes: number[]) =>
  answerTo(v, await signedBallot(v, escrowId, votes.length ? votes : undefined))

/** Sends each body to the other replica than the one before. */
const sendAll = (bodies: unknown[]): Promise<Answer[]> =>
  Promise.all(
    bodies.map((body, at) => replicas[at % 2 === 0 ? 0 : 1]('POST', STEP2, { as: v.buyer.owner, body })),
  )

describe(`${MANY} ballots at once for one purchase, through two replicas`, () => {
  it.each([
    ['all the same', async (escrowId: bigint) => Array(MANY).fill(await signedBallot(v, escrowId))],
    [
      'all different',
      async (escrowId: bigint) => {
        const ids = v.others.map(({ internalId }) => internalId)
        const ballots = Array.from({ length: MANY }, (_, at) =>
          ids
            .slice(0, 1 + (at % 3))
            .map((review_id) => ({ review_id, reasoning: `As number ${at} said of ${review_id}.` })),
        )
        return Promise.all(ballots.map((votes) => signedBallot(v, escrowId, votes)))
      },
    ],
  ])('are one ballot: %s [VOTE-62, VOTE-63]', async (_what, ballots) => {
    const { escrowId } = await v.bought()
    const before = await votesCast(v.m, v.buyer.agentId)
    const bodies: { votes: { review_id: number; reasoning: string }[] }[] = await ballots(escrowId)
    const answers = await sendAll(bodies)
    const taken = answers.findIndex(({ status }) => status === 200)
    const votes = bodies[taken]?.votes ?? []
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      bodies.map((_, at) => (at === taken ? recorded(votes.length) : already(escrowId))),
    )
    expect(await ofEscrow(escrowId)).toMatchObject(
      votes.map(({ review_id, reasoning }) => ({ review_internal_id: BigInt(review_id), reasoning })),
    )
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before + votes.length)
  })

  it('do not stand in the way of those for other purchases [VOTE-62]', async () => {
    const [first, other] = [await v.bought(), await v.bought()]
    const bodies = await Promise.all([first, other, first, other].map((of) => signedBallot(v, of.escrowId)))
    const statuses = (await sendAll(bodies)).map(({ status }) => status)
    expect([statuses[0], statuses[2]].sort()).toEqual([200, 409])
    expect([statuses[1], statuses[3]].sort()).toEqual([200, 409])
  })
})

describe('when blocks are replaced', () => {
  let salt = 9_000

  const signPurchaseOfProduct = async () => {
    salt += 1
    return signPurchase(v.m.market, v.buyer.owner, {
      value: 1_000_000n,
      salt: numberToHex(salt, { size: 32 }),
      attribution: {
        ...v.product,
        reviewId: v.link.reviewId,
        reviewerAgentId: v.link.agentId,
        buyerAgentId: v.buyer.agentId,
        cashbackOfCommissionBps: 0,
        commissionMultiplierBps: 10_000,
      },
    })
  }

  /** At another time than before, so that the same transactions make another block. */
  async function takeBack(id: `0x${string}`): Promise<void> {
    const { client } = v.m.market
    await client.revert({ id })
    await client.increaseTime({ seconds: 5 })
  }

  it('votes stay with their purchase, whatever its number is then [VOTE-62]', async () => {
    const [one, two] = [await signPurchaseOfProduct(), await signPurchaseOfProduct()]
    const settled = async (...purchases: (typeof one)[]) => {
      const deposits = escrowDeposits(await settlePurchases(v.m.market, purchases))
      await v.m.indexed()
      return deposits.map(({ escrowId }) => escrowId)
    }
    const id = await v.m.market.client.snapshot()
    const [first = 0n, next = 0n] = await settled(one, two)
    expect(await cast(first, v.others[1].internalId)).toEqual(recorded(1))
    await takeBack(id)
    expect(await settled(two, one)).toEqual([first, next])
    // The escrow ids have been exchanged: the purchase that was voted for is `next` now.
    expect(await cast(next)).toEqual(already(next))
    expect(await cast(first)).toEqual(recorded(1))
    expect(await cast(first)).toEqual(already(first))
  })

  it('votes for a purchase that is gone are refused, and when it is back it has its votes [VOTE-57, VOTE-62]', async () => {
    const purchase = await signPurchaseOfProduct()
    const { client } = v.m.market
    const settle = async () => {
      const [deposit] = escrowDeposits(await settlePurchases(v.m.market, [purchase]))
      await v.m.indexed()
      return deposit?.escrowId ?? 0n
    }
    const id = await client.snapshot()
    const escrowId = await settle()
    expect(await cast(escrowId)).toEqual(recorded(1))
    await takeBack(id)
    await client.mine({ blocks: 2 })
    await v.m.indexed()
    expect(await cast(escrowId)).toEqual(refusal(404, 'not found'))
    expect(await settle()).toBe(escrowId)
    expect(await cast(escrowId)).toEqual(already(escrowId))
    expect(await ofEscrow(escrowId)).toHaveLength(1)
  })

  it('a review that is gone is not published, and cannot be voted for [VOTE-52]', async () => {
    const { escrowId } = await v.bought()
    const { client } = v.m.market
    const id = await client.snapshot()
    const { internalId } = await review(v.m, v.others[0].owner, v.others[0].agentId, v.product)
    await takeBack(id)
    await client.mine({ blocks: 2 })
    await v.m.indexed()
    const error = `review ${internalId} is not published: invalid input`
    expect(await cast(escrowId, internalId)).toEqual(refusal(400, error))
    expect(await ofEscrow(escrowId)).toEqual([])
  })
})

describe('an escrow contract that replaces another', () => {
  let third: Service
  /** Buys through the new contracts. */
  let buyAnew: (buyerAgentId: bigint) => Promise<bigint>
  let successor: string

  beforeAll(async () => {
    const { m } = v
    const sendEach = async (...calls: Call[]) => {
      for (const made of calls) await send(m, made)
    }
    const deployed = await deploySuccessors({ chainId: m.chainId, market: m.market, send: sendEach })
    const { config } = m.service.context
    await Promise.all([m.service.stop(), second.stop()])
    const { CommissionEscrow, SplitRouter } = deployed.addresses
    const [chain] = config.chains
    const contracts = {
      ...chain.contracts,
      CommissionEscrow: [...chain.contracts.CommissionEscrow, CommissionEscrow],
      SplitRouter: [...chain.contracts.SplitRouter, SplitRouter],
    }
    third = await startService({ ...config, chains: [{ ...chain, contracts }] })
    await sendEach(...deployed.naming)
    v = { ...v, m: { ...m, call: callerOf(third.url) } }
    successor = CommissionEscrow.toLowerCase()
    buyAnew = async (buyerAgentId) => {
      const through = { ...m.market, addresses: deployed.addresses }
      const { reviewId, agentId: reviewerAgentId } = v.link
      const bought = { product: v.product, reviewId, reviewerAgentId, buyerAgentId }
      const { escrowId } = await buy({ market: through }, v.buyer.owner, bought)
      await m.indexed()
      return escrowId
    }
  })
  afterAll(() => third.stop())

  const castBy = async (agentId: bigint, escrowId: bigint) => {
    const body = voteBody({ agentId, escrowId, votes: [v.others[0].internalId] })
    return answerTo(v, await signedBody(v.m, VOTES, { as: v.buyer.owner, body }))
  }
  const contractsOf = async (agentId: bigint) =>
    (await storedVotes(v.m, agentId)).map(({ contract }) => contract === successor)

  it('counts from 1 again: everybody votes for the purchase of their own [VOTE-58, VOTE-62]', async () => {
    const agentId = await registerIdentity(v.m.market, v.buyer.owner)
    const escrowId = await buyAnew(agentId)
    const before = await ofEscrow(escrowId)
    expect(before, 'a purchase of the old contract has that number, too').toHaveLength(1)
    expect(await castBy(agentId, escrowId)).toEqual(recorded(1))
    expect(await castBy(agentId, escrowId)).toEqual(already(escrowId))
    expect(await contractsOf(agentId)).toEqual([true])
    expect(await cast(escrowId)).toEqual(already(escrowId))
    expect(await ofEscrow(escrowId)).toEqual(before)
  })

  it('has the newer one of two purchases that an agent made under one number [VOTE-62]', async () => {
    const { agentId } = v.buyer
    const escrowId = await buyAnew(agentId)
    expect(await ofEscrow(escrowId)).not.toEqual([])
    expect(await castBy(agentId, escrowId)).toEqual(recorded(1))
    expect(await castBy(agentId, escrowId)).toEqual(already(escrowId))
    expect((await contractsOf(agentId)).filter(Boolean)).toHaveLength(1)
  })
})
