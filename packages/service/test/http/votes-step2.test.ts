// Step 2 of voting: its inputs besides the votes, and whose signature is valid.
import { developmentAccount, registerIdentity } from '@referrer/contracts/local'
import { type Hex, hexToBigInt, type LocalAccount, numberToHex, parseSignature, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, setAgentWallet } from '../calls.ts'
import { must, sessionOf } from './caller.ts'
import { send, transfer } from './chain.ts'
import { type Cast, voteBody } from './commitments.ts'
import { ACCEPTING, ECHO, GAS_BURNING, giveToContract, ownedBy, REVERTING } from './contract-wallets.ts'
import { votesRefused } from './votes-refused.ts'
import {
  answerTo,
  ballotOf,
  recorded,
  refusal,
  STEP1,
  STEP2,
  signedBallot,
  startVoting,
  storedVotes,
  type Voting,
} from './voting.ts'

const FORBIDDEN = refusal(403, 'not authorized')
/** The order of the curve. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let v: Voting
/** A purchase on which all refused votes are tried. */
let open: bigint
/** While set, the service's clock stands still at this time. */
let stoppedAt: number | undefined

beforeAll(async () => {
  v = await startVoting({ overrides: { clock: () => stoppedAt ?? Date.now() } })
  open = (await v.bought()).escrowId
})
afterAll(() => v.m.close())

interface Signing {
  signer?: Pick<LocalAccount, 'signTypedData'>
  /** By default the buyer's agent. */
  agentId?: bigint
  votes?: Cast['votes']
  /** By default those of step 1. */
  nonce?: bigint
  expiry?: number
}

/** The body of step 2, with votes for this purchase. */
async function signed(escrowId: bigint, { signer = v.buyer.owner, ...change }: Signing = {}) {
  const { agentId = v.buyer.agentId, votes = [v.others[0].internalId] } = change
  const body = voteBody({ agentId, escrowId, votes })
  const { commitment, ...given } = await must(v.m.call('POST', STEP1, { as: v.buyer.owner, body }))
  const { nonce = BigInt(given.nonce), expiry = Number(given.expiry) } = change
  const message = { ...commitment.message, nonce: numberToHex(nonce, { size: 32 }), expiry }
  const agent_sig: Hex = await signer.signTypedData({ ...commitment, message })
  return { ...body, nonce: String(nonce), expiry, agent_sig }
}

/** An agent with a purchase. */
async function newBuyer(owner: LocalAccount = v.buyer.owner) {
  const agentId = await registerIdentity(v.m.market, owner)
  return { agentId, escrowId: (await v.bought({ buyerAgentId: agentId })).escrowId }
}

describe('step 2 of a vote is refused', () => {
  it('without a signature of the request, though the commitment is signed [VOTE-36]', async () => {
    const body = await signed(open)
    for (const ask of [{ body }, { body, token: 'nonsense' }]) {
      expect(await v.m.call('POST', STEP2, ask)).toMatchObject({
        status: 401,
        body: { error: 'unauthorized' },
      })
    }
  })

  const ofStep1 = votesRefused.map(([title, ...rest]) => [title.replace(/ \[.*/, ''), ...rest] as const)
  it.each(ofStep1)(
    'as step 1 is, before its signature is looked at: for %s [VOTE-43]',
    async (_title, sent, error) => {
      for (const proof of [
        { agent_sig: 'garbage' },
        { nonce: '1', expiry: 1, agent_sig: `0x${'ff'.repeat(65)}` },
      ]) {
        const body = typeof sent === 'string' ? sent : { ...ballotOf(v, open), ...sent, ...proof }
        expect(await answerTo(v, body)).toEqual(refusal(400, error))
      }
    },
  )

  it('on a chain that is not served', async () => {
    const answer = await v.m.call('POST', `${STEP2}?chain_id=999999999`, {
      as: v.buyer.owner,
      body: await signed(open),
    })
    expect([answer.status, answer.body]).toEqual(refusal(400, 'chain_id not configured'))
  })

  const REQUIRED = 'nonce and expiry are required with agent_sig: invalid input'
  const NONCE = 'invalid nonce: must be decimal uint256: invalid input'
  const SIGNATURE = 'invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input'
  const bytes = (count: number) => `0x${'ab'.repeat(count)}`

  it.each([
    ['a nonce [VOTE-44]', { nonce: undefined }, REQUIRED],
    ['a nonce that is not null [VOTE-44]', { nonce: null }, REQUIRED],
    ['an expiry [VOTE-45]', { expiry: undefined }, REQUIRED],
    ['an expiry that is not null [VOTE-45]', { expiry: null }, REQUIRED],
    ['either of them [VOTE-44, VOTE-45]', { nonce: undefined, expiry: undefined }, REQUIRED],
    ['a nonce that is decimal, not words [VOTE-42]', { nonce: 'abc' }, NONCE],
    ['a nonce that is whole [VOTE-42]', { nonce: '1.5' }, NONCE],
    ['a nonce that is not negative [VOTE-42]', { nonce: '-1' }, NONCE],
    ['a nonce in decimal digits [VOTE-42]', { nonce: '1e3' }, NONCE],
    ['a nonce that is text [VOTE-42]', { nonce: 5 }, NONCE],
    ['a nonce below 2^256 [VOTE-41]', { nonce: String(2n ** 256n) }, NONCE],
    ['a nonce of a sensible length [VOTE-41]', { nonce: '9'.repeat(10_000) }, NONCE],
    ['an agent_sig', { agent_sig: undefined }, SIGNATURE],
    ['an agent_sig that is not null', { agent_sig: null }, SIGNATURE],
    ['0x before the agent_sig [VOTE-47]', { agent_sig: 'ab'.repeat(65) }, SIGNATURE],
    ['0x in small letters [VOTE-47]', { agent_sig: `0X${'ab'.repeat(65)}` }, SIGNATURE],
    ['the 65th byte [VOTE-48]', { agent_sig: bytes(64) }, SIGNATURE],
    ['half of the 65th byte [VOTE-48]', { agent_sig: `${bytes(64)}a` }, SIGNATURE],
    ['an end after 65 bytes [VOTE-48]', { agent_sig: bytes(66) }, SIGNATURE],
    ['hex digits [VOTE-49]', { agent_sig: `0x${'zz'.repeat(65)}` }, SIGNATURE],
  ])('without %s', async (_what, change, error) => {
    expect(await answerTo(v, { ...(await signed(open)), ...change })).toEqual(refusal(400, error))
  })

  it('with the nonce as the commitment has it [VOTE-40]', async () => {
    const { nonce, ...rest } = await signed(open)
    const hex = numberToHex(BigInt(nonce), { size: 32 })
    expect(await answerTo(v, { ...rest, nonce: hex })).toEqual(refusal(400, NONCE))
  })

  it('for the first of several faults', async () => {
    const faults = [
      [{ votes: [] }, 'votes must contain 1–3 items, got 0: invalid input'],
      [{ nonce: null }, REQUIRED],
      [{ expiry: 1 }, 'commitment expired: invalid input'],
      [{ nonce: 'abc' }, NONCE],
      [{ agent_sig: '0x' }, SIGNATURE],
    ] as const
    for (const [at, [, error]] of faults.entries()) {
      const later = faults.slice(at).toReversed()
      const body = Object.assign({}, await signed(open), ...later.map(([change]) => change))
      expect(await answerTo(v, body)).toEqual(refusal(400, error))
    }
  })

  const UNRECOVERABLE = [400, { error: expect.stringMatching(/^recover signer: .+: invalid input$/) }]

  it.each([
    ['nothing but ones [VOTE-50]', `0x${'ff'.repeat(65)}`],
    ['nothing but zeros [VOTE-50]', `0x${'00'.repeat(65)}`],
    ['an r that is on no curve [VOTE-50]', `0x${toHex(5n, { size: 32 }).slice(2)}${'11'.repeat(32)}1b`],
    ['a v that there is not [VOTE-50]', `0x${'11'.repeat(64)}63`],
  ])('when nobody can be recovered from it: %s', async (_what, agent_sig) => {
    expect(await answerTo(v, { ...(await signed(open)), agent_sig })).toEqual(UNRECOVERABLE)
  })

  it('when the s of its signature is high [VOTE-51]', async () => {
    const body = await signed(open)
    const { r, s, yParity } = parseSignature(body.agent_sig)
    const high = toHex(ORDER - hexToBigInt(s), { size: 32 })
    const agent_sig = `${r}${high.slice(2)}${yParity ? '1b' : '1c'}`
    expect(await answerTo(v, { ...body, agent_sig })).toEqual(UNRECOVERABLE)
  })

  it.each([
    ['-1 s [VOTE-46]', -1, 'commitment expired: invalid input'],
    ['an hour and a second', 3_601, 'invalid expiry: invalid input'],
  ])('when it expires in %s', async (_when, ahead, error) => {
    const now = Math.floor(Date.now() / 1_000)
    stoppedAt = now * 1_000
    try {
      expect(await answerTo(v, await signed(open, { expiry: now + ahead }))).toEqual(refusal(400, error))
    } finally {
      stoppedAt = undefined
    }
  })

  it.each(['1', 1.5, true, {}])('when its expiry is no whole number: %j', async (expiry) => {
    const [status, answer] = await answerTo(v, { ...(await signed(open)), expiry })
    expect([status, answer]).toEqual(refusal(400, 'invalid expiry: invalid input'))
  })

  it('an hour after step 1 [VOTE-46]', async () => {
    const body = await signed(open)
    stoppedAt = body.expiry * 1_000 + 1_000
    const ask = { as: v.buyer.owner, timestamp: body.expiry + 1, body }
    try {
      const answer = await v.m.call('POST', STEP2, ask)
      expect([answer.status, answer.body]).toEqual(refusal(400, 'commitment expired: invalid input'))
    } finally {
      stoppedAt = undefined
    }
  })

  it('when it is not signed by the owner of the agent [VOTE-55]', async () => {
    const { stranger, reviewer, merchant } = v.m.market.accounts
    for (const signer of [stranger, reviewer, merchant]) {
      expect(await answerTo(v, await signed(open, { signer }))).toEqual(FORBIDDEN)
    }
  })

  it('when it is signed by the wallet that the agent is bound to [VOTE-56]', async () => {
    const wallet = developmentAccount(15)
    const { agentId, escrowId } = await newBuyer()
    const { timestamp } = await v.m.market.client.getBlock()
    await send(v.m, await setAgentWallet(v.m, v.buyer.owner, { agentId, wallet }, timestamp))
    await v.m.indexed()
    expect(await answerTo(v, await signed(escrowId, { agentId, signer: wallet }))).toEqual(FORBIDDEN)
    expect(await answerTo(v, await signed(escrowId, { agentId }))).toEqual(recorded(1))
  })

  it('when other votes were signed than are sent [VOTE-67]', async () => {
    const [first, second] = v.others.map(({ internalId }) => ({ review_id: internalId, reasoning: 'Right.' }))
    if (!first || !second) throw new Error('there are three others')
    const body = await signed(open, { votes: [first, second] })
    for (const votes of [
      [second, first],
      [first],
      [first, { ...second, reasoning: 'Right!' }],
      [first, { ...second, review_id: v.others[2].internalId }],
      [first, second, { review_id: v.others[2].internalId, reasoning: 'Right.' }],
    ]) {
      expect(await answerTo(v, { ...body, votes })).toEqual(FORBIDDEN)
    }
  })

  it('when something else was signed than is sent [VOTE-55]', async () => {
    const [body, other] = [await signed(open), await newBuyer()]
    for (const change of [
      { escrow_id: Number(other.escrowId) },
      { agent_id: Number(other.agentId) },
      { nonce: String(BigInt(body.nonce) ^ 1n) },
      { expiry: body.expiry - 1 },
    ]) {
      expect(await answerTo(v, { ...body, ...change })).toEqual(FORBIDDEN)
    }
  })

  it('with 404 for an agent that there is not', async () => {
    expect(await answerTo(v, await signed(open, { agentId: 99_999_999n }))).toEqual(refusal(404, 'not found'))
  })

  it('and leaves nothing behind: the votes can be cast [VOTE-37]', async () => {
    expect((await storedVotes(v.m, v.buyer.agentId)).filter(({ escrow_id }) => escrow_id === open)).toEqual(
      [],
    )
    expect(await answerTo(v, await signedBallot(v, open))).toEqual(recorded(1))
  })
})

describe('step 2 of a vote is taken', () => {
  it('from whoever brings it, and with a session: the commitment is what the owner signs', async () => {
    const { stranger } = v.m.market.accounts
    const [first, second] = [await v.bought(), await v.bought()]
    const brought = await v.m.call('POST', STEP2, { as: stranger, body: await signed(first.escrowId) })
    expect(brought.status).toBe(200)
    const token = await sessionOf(v.m.call, stranger)
    expect((await v.m.call('POST', STEP2, { token, body: await signed(second.escrowId) })).status).toBe(200)
  })

  it.each([
    ['this very second', 0],
    ['an hour', 3_600],
  ])('when it expires in %s', async (_when, ahead) => {
    const { escrowId } = await v.bought()
    const now = Math.floor(Date.now() / 1_000)
    stoppedAt = now * 1_000
    try {
      expect(await answerTo(v, await signed(escrowId, { expiry: now + ahead }))).toEqual(recorded(1))
    } finally {
      stoppedAt = undefined
    }
  })

  it('with a nonce of the signer’s own, even one that was used for another purchase [VOTE-64]', async () => {
    for (const nonce of [7n, 7n, 0n, 2n ** 256n - 1n]) {
      const { escrowId } = await v.bought()
      expect(await answerTo(v, await signed(escrowId, { nonce }))).toEqual(recorded(1))
    }
  })

  it('from the owner that the agent has now, and not from the one that it had in step 1 [VOTE-55]', async () => {
    const next = developmentAccount(16)
    const { agentId, escrowId } = await newBuyer()
    const before = await signed(escrowId, { agentId })
    const ofNext = await signed(escrowId, { agentId, signer: next })
    expect(await answerTo(v, ofNext)).toEqual(FORBIDDEN)
    await transfer(v.m, v.buyer.owner, next.address, agentId)
    expect(await answerTo(v, before)).toEqual(FORBIDDEN)
    expect(await answerTo(v, ofNext)).toEqual(recorded(1))
  })

  it('from the new owner though the records have not heard of it [VOTE-55]', async () => {
    const next = developmentAccount(16)
    const { agentId, escrowId } = await newBuyer()
    const { owner } = v.buyer
    v.m.nodes.only = 'eth_getLogs'
    try {
      const given = [owner.address, next.address, agentId]
      await send(v.m, call(v.m, owner, 'IdentityRegistry', 'transferFrom', given))
      expect(await answerTo(v, await signed(escrowId, { agentId }))).toEqual(FORBIDDEN)
      expect(await answerTo(v, await signed(escrowId, { agentId, signer: next }))).toEqual(recorded(1))
    } finally {
      v.m.nodes.only = undefined
    }
  })
})

describe('of an agent that a contract owns', () => {
  it('votes count when the contract knows the signature [VOTE-55, AUTH-23 otherwise]', async () => {
    const key = developmentAccount(17)
    const { agentId, escrowId } = await newBuyer()
    await giveToContract(v.m, v.buyer.owner, agentId, ownedBy(key.address))
    expect(await answerTo(v, await signed(escrowId, { agentId }))).toEqual(FORBIDDEN)
    const body = await signed(escrowId, { agentId, signer: key })
    expect(await answerTo(v, { ...body, nonce: String(BigInt(body.nonce) ^ 1n) })).toEqual(FORBIDDEN)
    expect(await answerTo(v, body)).toEqual(recorded(1))
  })

  it('votes count with whatever 65 bytes the contract agrees to', async () => {
    const { agentId, escrowId } = await newBuyer()
    await giveToContract(v.m, v.buyer.owner, agentId, ACCEPTING)
    const body = await signed(escrowId, { agentId })
    const error = 'invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input'
    expect(await answerTo(v, { ...body, agent_sig: '0x' })).toEqual(refusal(400, error))
    expect(await answerTo(v, { ...body, agent_sig: `0x${'ff'.repeat(65)}` })).toEqual(recorded(1))
  })

  it.each([
    ['reverts', REVERTING],
    ['burns all gas', GAS_BURNING],
    ['answers with the question', ECHO],
  ])('votes are refused when the contract %s [VOTE-55]', async (_what, code) => {
    const { agentId, escrowId } = await newBuyer()
    await giveToContract(v.m, v.buyer.owner, agentId, code)
    expect(await answerTo(v, await signed(escrowId, { agentId }))).toEqual(FORBIDDEN)
    expect(await storedVotes(v.m, agentId)).toEqual([])
  })
})
