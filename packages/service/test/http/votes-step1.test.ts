// Step 1 of voting: refusals, and the data to sign.
import { concat, type Hex, hexToBigInt, keccak256, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_WORK } from './market.ts'
import { votesRefused } from './votes-refused.ts'
import {
  answerTo,
  ballotOf,
  recorded,
  refusal,
  STEP1,
  signedBallot,
  startVoting,
  type Voting,
  votesCast,
} from './voting.ts'

const OTHER_CHAIN = 31_338

let v: Voting
/** While set, the service's clock stands still at this time. */
let stoppedAt: number | undefined

beforeAll(async () => {
  v = await startVoting({
    chainIds: [31_337, OTHER_CHAIN],
    overrides: { ...NO_WORK, clock: () => stoppedAt ?? Date.now() },
  })
})
afterAll(() => v.m.close())

const step1 = (body: unknown, query = '') => v.m.call('POST', `${STEP1}${query}`, { as: v.buyer.owner, body })
const commitmentTo = async (votes: { review_id: number; reasoning: string }[], escrowId = 1n) =>
  (await step1(ballotOf(v, escrowId, votes))).body.commitment
const vote = (reasoning: string, review_id = 7) => ({ review_id, reasoning })

/** `keccak256(abi.encode((uint256, string)[]))`, by hand. */
function hashOf(votes: { review_id: number; reasoning: string }[]): Hex {
  const word = (value: number) => numberToHex(value, { size: 32 })
  const items = votes.map(({ review_id, reasoning }) => {
    const bytes = new TextEncoder().encode(reasoning)
    const padded = new Uint8Array(Math.ceil(bytes.length / 32) * 32)
    padded.set(bytes)
    const text = `0x${Buffer.from(padded).toString('hex')}` as Hex
    return concat([word(review_id), word(64), word(bytes.length), text])
  })
  let offset = 32 * items.length
  const offsets = items.map((item) => {
    const at = word(offset)
    offset += (item.length - 2) / 2
    return at
  })
  return keccak256(concat([word(32), word(items.length), ...offsets, ...items]))
}

// The table names the rules: VOTE-03, VOTE-04, VOTE-05, VOTE-06, VOTE-07, VOTE-09, VOTE-10, VOTE-11, VOTE-13.
describe('step 1 of a vote is refused', () => {
  it('without a signature of the request [VOTE-02]', async () => {
    const body = ballotOf(v, 1n)
    expect(await v.m.call('POST', STEP1, { body })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized' },
    })
    expect((await step1(body)).status).toBe(200)
  })

  it.each(votesRefused)('for %s', async (_title, sent, error) => {
    const body = typeof sent === 'string' ? sent : { ...ballotOf(v, 1n), ...sent }
    const answer = await step1(body)
    expect([answer.status, answer.body]).toEqual(refusal(400, error))
  })

  it('on a chain that is not served [VOTE-14]', async () => {
    const answer = await step1(ballotOf(v, 1n), '?chain_id=999999999')
    expect([answer.status, answer.body]).toEqual([400, { error: 'chain_id not configured' }])
  })

  it('with 500 when the service cannot do its work [VOTE-15]', async () => {
    await v.m.withoutTable('market.seen_requests', async () => {
      expect(await step1(ballotOf(v, 1n))).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
    expect((await step1(ballotOf(v, 1n))).status).toBe(200)
  })
})

describe('step 1 of a vote', () => {
  it('gives what is to be signed, its nonce and its expiry [VOTE-16, VOTE-17, VOTE-18, VOTE-19, VOTE-20, VOTE-24, VOTE-25, VOTE-26, VOTE-27, VOTE-28, VOTE-29, VOTE-30, VOTE-31, VOTE-32]', async () => {
    const body = ballotOf(v, 12n, [vote('It was right.')])
    const answer = await step1(body)
    expect(answer.status).toBe(200)
    const { nonce, expiry } = answer.body
    expect(answer.body).toEqual({
      status: 'awaiting_signature',
      commitment: {
        types: {
          EIP712Domain: [
            { name: 'name', type: 'string' },
            { name: 'version', type: 'string' },
            { name: 'chainId', type: 'uint256' },
            { name: 'verifyingContract', type: 'address' },
          ],
          VoteCommitment: [
            { name: 'agentId', type: 'uint256' },
            { name: 'escrowId', type: 'uint256' },
            { name: 'votesHash', type: 'bytes32' },
            { name: 'nonce', type: 'bytes32' },
            { name: 'expiry', type: 'uint256' },
          ],
        },
        primaryType: 'VoteCommitment',
        domain: {
          name: 'ReferrerVotes',
          version: '1',
          chainId: v.m.chainId,
          verifyingContract: v.m.market.addresses.ReviewRegistry,
        },
        message: {
          agentId: '0',
          escrowId: '12',
          votesHash: hashOf([vote('It was right.')]),
          nonce: numberToHex(BigInt(nonce), { size: 32 }),
          expiry,
        },
      },
      nonce: expect.any(String),
      expiry: expect.any(Number),
    })
  })

  it('is about the chain that was asked for [VOTE-30]', async () => {
    const { domain } = (await step1(ballotOf(v, 1n), `?chain_id=${OTHER_CHAIN}`)).body.commitment
    const ours = v.m.chains[1]?.market.addresses.ReviewRegistry
    expect(domain).toMatchObject({ chainId: OTHER_CHAIN, verifyingContract: ours })
  })

  it('tells its nonce as a decimal number, and signs it as 32 bytes [VOTE-21, VOTE-22]', async () => {
    for (let count = 0; count < 5; count += 1) {
      const { nonce, commitment } = (await step1(ballotOf(v, 1n))).body
      expect(nonce).toMatch(/^(0|[1-9][0-9]*)$/)
      expect(commitment.message.nonce).toMatch(/^0x[0-9a-f]{64}$/)
      expect(hexToBigInt(commitment.message.nonce)).toBe(BigInt(nonce))
    }
  })

  it('gives another nonce each time [VOTE-75]', async () => {
    const asked = Array.from({ length: 10 }, () => step1(ballotOf(v, 1n)))
    const nonces = (await Promise.all(asked)).map(({ body }) => body.nonce)
    expect(new Set(nonces).size).toBe(10)
  })

  it('expires in an hour [VOTE-23]', async () => {
    try {
      const now = Math.floor(Date.now() / 1_000)
      stoppedAt = now * 1_000
      expect((await step1(ballotOf(v, 1n))).body.expiry).toBe(now + 3_600)
    } finally {
      stoppedAt = undefined
    }
  })

  it.each([
    ['one', [vote('It was right.')]],
    ['texts that fill their words', [vote('x'.repeat(32)), vote('y'.repeat(64), 9_007_199_254_740_991)]],
    ['three, of many alphabets', [vote('Täglich', 3), vote('毎日', 1), vote(' \u{1f600}\n ', 2)]],
  ])(
    'hashes the votes in the order sent, as anybody can again: %s [VOTE-31, VOTE-33]',
    async (_what, votes) => {
      const hash = hashOf(votes)
      expect((await commitmentTo(votes)).message.votesHash).toBe(hash)
      expect((await commitmentTo(votes, 2n)).message.votesHash).toBe(hash)
    },
  )

  it('gives another hash for another review, reasoning or order [VOTE-33]', async () => {
    const [first, second] = [vote('It was right.', 1), vote('It was wrong.', 2)]
    const ballots = [
      [first],
      [{ ...first, review_id: 2 }],
      [{ ...first, reasoning: 'It was right. ' }],
      [first, second],
      [second, first],
    ]
    const hashes = await Promise.all(
      ballots.map(async (votes) => (await commitmentTo(votes)).message.votesHash),
    )
    expect(new Set(hashes).size).toBe(ballots.length)
  })

  it.each([
    ['280 characters of several bytes each', 'é'.repeat(280)],
    ['280 characters of two surrogates each', '\u{1f600}'.repeat(280)],
    ['280 characters, spaces at the ends among them', ` ${'a'.repeat(278)} `],
  ])('takes a reasoning of %s [VOTE-12]', async (_what, reasoning) => {
    expect((await step1(ballotOf(v, 1n, [vote(reasoning)]))).status).toBe(200)
    expect((await step1(ballotOf(v, 1n, [vote(`${reasoning}a`)]))).body).toEqual({
      error: 'reasoning exceeds 280 characters for review_id 7: invalid input',
    })
  })

  it('does not look for the purchase, the agent or the reviews [VOTE-35]', async () => {
    const nothing = { agent_id: 99_999_999, escrow_id: 99_999_999, votes: [vote('Why not', 99_999_999)] }
    expect((await step1(nothing)).status).toBe(200)
    expect((await step1({ ...nothing, agent_id: 0, escrow_id: 0, votes: [vote('Why not', 0)] })).status).toBe(
      200,
    )
    v.m.nodes.isDown = true
    try {
      expect((await step1(nothing)).status).toBe(200)
    } finally {
      v.m.nodes.isDown = false
    }
  })

  /** The number of rows in each table of the service; signed requests are stored to detect replays. */
  async function rowsKept(): Promise<Record<string, bigint>> {
    const { sql } = v.m
    const tables = await sql<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'market' AND table_type = 'BASE TABLE' AND table_name <> 'seen_requests'`
    const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*) AS rows FROM market.${name}`)
    const rows = await sql.unsafe<{ name: string; rows: bigint }[]>(counts.join(' UNION ALL '))
    return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]))
  }

  it('keeps nothing: the votes are cast as if it had not been asked for [VOTE-34]', async () => {
    const { escrowId } = await v.bought()
    const before = await rowsKept()
    expect(before).toMatchObject({ ballots: 0n, votes: 0n })
    for (let count = 0; count < 3; count += 1) expect((await step1(ballotOf(v, escrowId))).status).toBe(200)
    const unknown = { ...ballotOf(v, escrowId), agent_id: 999_999 }
    expect((await step1(unknown)).status).toBe(200)
    expect(await rowsKept()).toEqual(before)
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(0)
    const cast = await signedBallot(v, escrowId, [v.others[1].internalId, v.others[2].internalId])
    expect(await answerTo(v, cast)).toEqual(recorded(2))
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(2)
  })
})
