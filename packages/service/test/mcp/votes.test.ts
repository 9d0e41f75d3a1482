// The tools in two steps that also have routes: votes, and the cashback that reviewers pledge.
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../http/caller.ts'
import { CASHBACK_RATE, pledgeBody, signedBody, VOTES, voteBody } from '../http/commitments.ts'
import { NO_WORK, newAgent } from '../http/market.ts'
import { ballotOf, review, signedBallot, startVoting, storedVotes, type Voting } from '../http/voting.ts'
import { type CheckedCaller, connectChecked } from './checked.ts'
import { inTwoSteps, signedArgs } from './two-steps.ts'

const VOTE = 'cast_review_votes'
const PLEDGE = 'set_cashback_rate'
const NOBODY = 99_999_999
const HOUR = 3_600

let v: Voting
let mcp: CheckedCaller
/** A purchase on which all refused votes are tried. */
let open: bigint
let owner: LocalAccount
let stranger: LocalAccount

beforeAll(async () => {
  v = await startVoting({ overrides: NO_WORK })
  mcp = await connectChecked(v.m)
  open = (await v.bought()).escrowId
  owner = v.buyer.owner
  stranger = v.m.market.accounts.stranger
})
afterAll(async () => {
  await mcp.close()
  await v.m.close()
})

const unixSeconds = () => Math.floor(Date.now() / 1_000)
const pledge = (bps: number) => pledgeBody({ agentId: v.link.agentId, bps })

/** The number of rows in each table of the service. */
async function rowCounts(): Promise<Record<string, bigint>> {
  const tables = await v.m.sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('market', 'sender', 'jobs')`
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${name}) AS "${name}"`)
  const [row] = await v.m.sql.unsafe(`SELECT ${counts.join(', ')}`)
  return { ...row }
}

/** The tool, its route, who signs, and what is sent. */
const PAIRS: [string, string, status: string, () => LocalAccount, () => Record<string, unknown>][] = [
  [VOTE, VOTES, 'awaiting_signature', () => owner, () => ballotOf(v, open)],
  [PLEDGE, CASHBACK_RATE, 'commitment', () => v.link.owner, () => pledge(1_000)],
]

describe('step 1', () => {
  it.each(PAIRS)(
    'of %s answers as %s does, an hour ahead, and writes nothing [MCP-19, MCP-20, MCP-92]',
    async (tool, route, status, _signer, args) => {
      const [before, askedAt] = [await rowCounts(), unixSeconds()]
      const answer = await mcp.ok(tool, args())
      expect(answer.expiry).toBeGreaterThanOrEqual(askedAt + HOUR)
      expect(answer.expiry).toBeLessThanOrEqual(unixSeconds() + HOUR)
      expect(await rowCounts()).toEqual(before)
      const told = await must(v.m.call('POST', `${route}/step1`, { as: stranger, body: args() }))
      expect(answer.status).toBe(status)
      expect(answer.nonce).not.toBe(told.nonce)
      expect(withoutOccasion(answer)).toEqual(withoutOccasion(told))
    },
  )

  it.each([VOTE, PLEDGE])('of %s is what it is without a signature, whatever else is there', async (tool) => {
    const args = { ...ballotOf(v, open), ...pledge(1_000), nonce: '1', expiry: 1 }
    for (const agent_sig of [undefined, null, '']) {
      expect(await mcp.ok(tool, { ...args, agent_sig })).toHaveProperty('commitment')
    }
  })
})

interface Envelope {
  nonce: string
  expiry: number
  commitment: { message: object }
}

/** These values differ for each call. */
const withoutOccasion = ({ nonce: _nonce, expiry: _expiry, commitment, ...rest }: Envelope) => ({
  ...rest,
  commitment: { ...commitment, message: { ...commitment.message, nonce: '', expiry: 0 } },
})

describe('step 2', () => {
  it('of votes casts them, once, and says so as the route does [MCP-19, MCP-92, MCP-102]', async () => {
    const { escrowId } = await v.bought()
    const votes = [v.others[0].internalId, v.others[1].internalId]
    const before = (await storedVotes(v.m, v.buyer.agentId)).length
    const args = await signedArgs(mcp, VOTE, owner, ballotOf(v, escrowId, votes))
    expect(await mcp.ok(VOTE, args)).toEqual({ status: 'ok', votes_recorded: 2 })
    expect((await storedVotes(v.m, v.buyer.agentId)).slice(before)).toMatchObject([
      { escrow_id: escrowId, review_internal_id: BigInt(votes[0] ?? 0) },
      { escrow_id: escrowId, review_internal_id: BigInt(votes[1] ?? 0) },
    ])
    const again = `votes already submitted for purchase record ${escrowId}: already exists`
    expect(await mcp.refusal(VOTE, args)).toBe(again)
    const told = await v.m.call('POST', `${VOTES}/step2`, { as: stranger, body: args })
    expect(told).toMatchObject({ status: 409, body: { error: again } })
  })

  it('takes what step 1 of the route proposed, and the other way round [MCP-92]', async () => {
    const [first, second] = [(await v.bought()).escrowId, (await v.bought()).escrowId]
    expect(await mcp.ok(VOTE, await signedBallot(v, first))).toEqual({ status: 'ok', votes_recorded: 1 })
    const body = await signedArgs(mcp, VOTE, owner, ballotOf(v, second))
    expect(await must(v.m.call('POST', `${VOTES}/step2`, { as: owner, body }))).toEqual({
      status: 'ok',
      votes_recorded: 1,
    })
  })

  it('of a pledge sets it, again too, as the route does [MCP-19]', async () => {
    const rate = async () =>
      (await mcp.ok('get_agent_context', { agent_id: Number(v.link.agentId) }))
        .global_cashback_of_commission_bps
    const args = await signedArgs(mcp, PLEDGE, v.link.owner, pledge(1_250))
    expect(await rate()).not.toBe(1_250)
    for (const given of [args, { ...args, expiry: String(args.expiry) }]) {
      expect(await mcp.ok(PLEDGE, given)).toEqual({ status: 'set' })
      expect(await rate()).toBe(1_250)
    }
    const body = await signedBody(v.m, CASHBACK_RATE, { as: v.link.owner, body: pledge(1_300) })
    expect(await mcp.ok(PLEDGE, body)).toEqual({ status: 'set' })
    expect(await rate()).toBe(1_300)
  })

  const REQUIRED = 'nonce and expiry are required with agent_sig: invalid input'
  const SIGNATURE = 'invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input'
  const FORMS: Record<string, string> = { [VOTE]: 'decimal uint256', [PLEDGE]: '0x-prefixed 32-byte hex' }
  it.each(
    PAIRS.flatMap(([tool, route, , signer, args]) => [
      [tool, 'no nonce [MCP-19]', { nonce: null }, REQUIRED, route, signer, args] as const,
      [tool, 'no expiry [MCP-19]', { expiry: undefined }, REQUIRED, route, signer, args] as const,
      [
        tool,
        'an expiry that is past',
        { expiry: 1 },
        'commitment expired: invalid input',
        route,
        signer,
        args,
      ] as const,
      [
        tool,
        'an expiry in words',
        { expiry: 'soon' },
        'invalid expiry: invalid input',
        route,
        signer,
        args,
      ] as const,
      [tool, 'half a signature', { agent_sig: '0xab' }, SIGNATURE, route, signer, args] as const,
      [
        tool,
        'a nonce in words',
        { nonce: 'x' },
        `invalid nonce: must be ${FORMS[tool]}: invalid input`,
        route,
        signer,
        args,
      ] as const,
    ]),
  )('of %s refuses %s as the route does', async (tool, _title, change, text, route, signer, args) => {
    const sent = { ...(await signedArgs(mcp, tool, signer(), args())), ...change }
    expect(await mcp.refusal(tool, sent)).toBe(text)
    const told = await v.m.call('POST', `${route}/step2`, { as: stranger, body: sent })
    expect(told).toMatchObject({ status: 400, body: { error: text } })
  })

  it('is too late after an hour, and not before', async () => {
    const { escrowId } = await v.bought()
    const [early, late] = [
      await signedArgs(mcp, VOTE, owner, ballotOf(v, escrowId)),
      await signedArgs(mcp, PLEDGE, v.link.owner, pledge(100)),
    ]
    try {
      v.m.clock.aheadMs = (HOUR - 60) * 1_000
      await mcp.ok(VOTE, early)
      v.m.clock.aheadMs = (HOUR + 1) * 1_000
      expect(await mcp.refusal(PLEDGE, late)).toBe('commitment expired: invalid input')
    } finally {
      v.m.clock.aheadMs = 0
    }
  })
})

it('the ids of votes may be text', async () => {
  const [{ internalId }] = v.others
  const votes = [{ review_id: String(internalId), reasoning: 'It told me what I wanted to know.' }]
  const asked = { ...ballotOf(v, open), votes }
  const { commitment } = await mcp.ok(VOTE, asked)
  const { commitment: same } = await mcp.ok(VOTE, ballotOf(v, open, [internalId]))
  expect(commitment.message.votesHash).toBe(same.message.votesHash)
})

describe('votes are refused', () => {
  /** The refusal of step 2, signed by the buyer by default; also expects that nothing is stored. */
  async function refusal(args: Record<string, unknown>, signer = owner): Promise<string> {
    const before = await rowCounts()
    const text = await mcp.refusal(VOTE, await signedArgs(mcp, VOTE, signer, args))
    expect(await rowCounts()).toEqual(before)
    return text
  }

  it('for a purchase that is not in the records [VOTE-68]', async () => {
    expect(await refusal(ballotOf(v, BigInt(NOBODY)))).toBe(
      `purchase for escrow ${NOBODY} not found (not yet indexed \u2014 retry shortly): not found`,
    )
  })

  it('for a purchase of another agent [VOTE-69]', async () => {
    const agentId = await newAgent(v.m, owner)
    const args = voteBody({ agentId, escrowId: open, votes: [v.others[0].internalId] })
    expect(await refusal(args)).toBe(`purchase record does not belong to agent ${agentId}: not found`)
  })

  it('for a purchase of a wallet without an agent [VOTE-69]', async () => {
    const { walletBuyer } = v.m.market.accounts
    const { escrowId } = await v.bought({ buyerAgentId: 2n ** 256n - 1n }, walletBuyer)
    expect(await refusal(ballotOf(v, escrowId))).toBe(
      `purchase record does not belong to agent ${v.buyer.agentId}: not found`,
    )
  })

  it('on a review that does not exist [VOTE-70]', async () => {
    const votes = [v.others[0].internalId, NOBODY]
    expect(await refusal(ballotOf(v, open, votes))).toBe(`review ${NOBODY} not found: not found`)
  })

  it("where all are on reviews of the buyer's own and another's is needed [VOTE-71]", async () => {
    const agentId = await newAgent(v.m, owner)
    const own = await review(v.m, owner, agentId, v.product)
    expect(await refusal(ballotOf(v, open, [own.internalId]))).toMatch(
      new RegExp(`^purchase ${open} needs a vote on a review of another owner, .*: conflict$`),
    )
    const both = ballotOf(v, (await v.bought()).escrowId, [own.internalId, v.others[0].internalId])
    expect((await inTwoSteps(mcp, VOTE, owner, both)).isError).toBe(false)
  })

  it('where somebody else signed [VOTE-72]', async () => {
    expect(await refusal(ballotOf(v, open), stranger)).toBe(
      `signature not from agent owner: recovered ${stranger.address}, want ${owner.address}: unauthorized`,
    )
  })

  it('where something else was signed [VOTE-72]', async () => {
    const signed = await signedArgs(mcp, VOTE, owner, ballotOf(v, open))
    const other = ballotOf(v, open, [v.others[1].internalId])
    expect(await mcp.refusal(VOTE, { ...signed, ...other })).toMatch(/: unauthorized$/)
  })

  it.each([
    ['no votes', [], 'votes must contain 1\u20133 items, got 0: invalid input'],
    ['null for votes', null, 'votes must contain 1\u20133 items, got 0: invalid input'],
    ['a vote without a reason', [{ review_id: 1 }], 'reasoning is required for each vote: invalid input'],
    ['words', 'all', 'invalid votes: invalid input'],
  ])('in step 1 too, with %s [MCP-92]', async (_, votes, text) => {
    expect(await mcp.refusal(VOTE, { ...ballotOf(v, open), votes })).toBe(text)
  })
})

it('votes without end are counted and not read, by the route too', async () => {
  const votes = Array.from({ length: 400 }, () => ({}))
  const text = 'votes must contain 1–3 items, got 400: invalid input'
  expect(await mcp.call('cast_review_votes', { agent_id: 1, escrow_id: 1, votes })).toMatchObject({
    isError: true,
    text,
  })
  const body = { agent_id: 1, escrow_id: 1, votes }
  const answer = await v.m.call('POST', '/v1/votes/step1', { as: v.m.market.accounts.buyer, body })
  expect(answer).toMatchObject({ status: 400, body: { error: text } })
})

it('tells which part of a vote is wrong', async () => {
  const refusal = async (vote: object) =>
    (await mcp.call('cast_review_votes', { agent_id: 1, escrow_id: 1, votes: [vote] })).text
  expect(await refusal({ review_id: -1, reasoning: 'a' })).toBe(
    'votes[0].review_id must not be negative: invalid input',
  )
  expect(await refusal({ reasoning: 'a' })).toBe('invalid votes[0].review_id: invalid input')
})

describe('a pledge is refused', () => {
  it('above the most, in both steps, as by the route [MCP-102]', async () => {
    const text = 'cashback rate 4001 bps exceeds maximum 4000 bps (40%): invalid input'
    const args = { ...(await signedArgs(mcp, PLEDGE, v.link.owner, pledge(4_000))), ...pledge(4_001) }
    expect(await mcp.refusal(PLEDGE, pledge(4_001))).toBe(text)
    expect(await mcp.refusal(PLEDGE, args)).toBe(text)
    const told = await v.m.call('POST', `${CASHBACK_RATE}/step1`, { as: owner, body: pledge(4_001) })
    expect(told).toMatchObject({ status: 400, body: { error: text } })
  })

  it('where somebody else signed, or for an agent that does not exist', async () => {
    expect(await mcp.refusal(PLEDGE, await signedArgs(mcp, PLEDGE, stranger, pledge(7)))).toBe(
      `signature not from agent owner: recovered ${stranger.address}, want ${v.link.owner.address}: unauthorized`,
    )
    const args = pledgeBody({ agentId: NOBODY, bps: 7 })
    expect(await mcp.refusal(PLEDGE, await signedArgs(mcp, PLEDGE, stranger, args))).toBe(
      `agent ${NOBODY} not found on-chain`,
    )
  })

  it('below nothing', async () => {
    expect(await mcp.refusal(PLEDGE, pledge(-1))).toBe(
      'cashback_of_commission_bps must not be negative: invalid input',
    )
  })
})
