import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { decodeFunctionData, encodeFunctionResult, type Hex, numberToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { asIndexer } from '../../testing/records.ts'
import { followOnce } from '../following/following.ts'
import { account, bytes32 } from '../ranks/testing.ts'
import { oracleFigures } from './figures.ts'
import { oracleFollower } from './follow.ts'
import { catchUpReleases, settleEscrows } from './schedule.ts'
import { MERCHANT } from './testing.ts'

const KEY = numberToHex(7, { size: 32 })
const MINUTE = 60_000
const WINDOW_END = Date.parse('2026-03-01T00:00:00Z')
const BUYER = 5

let database: TestDatabase
let chainId = 0
let clock: { now: number; head: number }
/** Reviewers that the identity registry does not tell how to pay. */
let unreadable: Set<bigint>
let warnings: unknown[][]
let context: Context
let withoutKey: Context

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
beforeEach(() => {
  chainId += 1
  clock = { now: WINDOW_END + 1_000, head: WINDOW_END - 1_000 }
  unreadable = new Set()
  warnings = []
  const rpc = {
    request: async (method: string, [call]: [{ data: Hex }]) =>
      method === 'eth_call'
        ? areReadable(call.data)
        : { number: '0x64', timestamp: numberToHex(Math.floor(clock.head / 1_000)) },
  }
  const log = { warn: (...line: unknown[]) => warnings.push(line) }
  const chain = { config: { chainId }, rpc } as unknown as Chain
  const common = { sql: database.sql, clock: () => clock.now, log, chains: new Map([[chainId, chain]]) }
  context = { ...common, config: { oracle: { address: privateKeyToAddress(KEY) } } } as unknown as Context
  withoutKey = { ...common, config: {} } as unknown as Context
})

/** The answer of an escrow contract. */
function areReadable(data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: commissionEscrowAbi, data })
  if (functionName !== 'areReadable') throw new Error(`${functionName} was not to be asked`)
  const result = args[0].map((agentId) => !unreadable.has(agentId))
  return encodeFunctionResult({ abi: commissionEscrowAbi, functionName, result })
}

interface Bought {
  escrowId: number
  reviewer?: number
  buyer?: number | null
  reviewId?: number
  heldBack?: number
  cashback?: number
}

async function buy(...purchases: Bought[]): Promise<void> {
  const rows = purchases.map((bought) => rowOf(bought))
  await asIndexer(database.sql, (tx) => tx`INSERT INTO chain.escrows ${tx(rows)}`)
}

function rowOf({
  escrowId,
  reviewer = 1,
  buyer = BUYER,
  reviewId = 1,
  heldBack = 40,
  cashback = 10,
}: Bought) {
  return {
    chain_id: chainId,
    contract: account(1),
    escrow_id: escrowId,
    reviewer_agent_id: reviewer,
    buyer_agent_id: buyer,
    payer: account(escrowId),
    nonce: bytes32(escrowId),
    merchant_id: MERCHANT,
    product_id: bytes32(1),
    review_id: reviewId,
    price: 1_000,
    commission: 100,
    fee: 10,
    held_back: heldBack,
    cashback,
    window_end: new Date(WINDOW_END),
    deposited_at: new Date(WINDOW_END - 60 * 24 * 60 * MINUTE),
    transaction_hash: bytes32(escrowId),
  }
}

/** A published review that pledges a tenth of its commission; with `of`, by the buyer of that purchase. */
async function review(reviewId: number, { of, outcome = 'pending' }: { of?: number; outcome?: string }) {
  const [row] = await database.sql<[{ internal_id: bigint }]>`
    INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content,
      satisfaction_score, comparison_outcome)
    VALUES (${chainId}, ${BUYER}, ${MERCHANT}, ${bytes32(1)}, ${bytes32(reviewId)}, ${of === undefined ? 1 : 2}, ${of ?? reviewId}, 1000,
      '{}', 1, ${outcome})
    RETURNING internal_id`
  await asIndexer(
    database.sql,
    (tx) => tx`
      INSERT INTO chain.reviews
        (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
      SELECT chain_id, ${reviewId}, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
        ${new Date(WINDOW_END - MINUTE)}
      FROM market.reviews WHERE internal_id = ${row.internal_id}`,
  )
  return row.internal_id
}

const run = (schedule: (context: Context) => Schedule, as = context) =>
  schedule(as).run({ signal: new AbortController().signal, sql: database.sql })
const chainOf = ({ chains }: Context) => chains.get(chainId) as Chain
/** One batch of changes. */
const follow = (as = context) => followOnce(as, chainOf(as), [oracleFollower(as)])
async function followAll(): Promise<void> {
  while (await follow()) {}
}

/** Decisions as escrow, kind and attempt (`1 release 1`), oldest first. */
async function decided(): Promise<string[]> {
  const rows = await database.sql<{ escrow_id: bigint; kind: string; attempt: number }[]>`
    SELECT escrow_id, kind, attempt FROM market.escrow_decisions WHERE chain_id = ${chainId} ORDER BY escrow_id, decided_at, attempt`
  return rows.map(({ escrow_id, kind, attempt }) => `${escrow_id} ${kind} ${attempt}`)
}

/** The escrows that each transaction settles, in queue order. */
async function sentBatches(): Promise<bigint[][]> {
  const rows = await database.sql<{ data: Buffer }[]>`
    SELECT data FROM sender.intents WHERE chain_id = ${chainId} ORDER BY id`
  return rows.map(({ data }) => {
    const { functionName, args } = decodeFunctionData({ abi: commissionEscrowAbi, data: hex(data) })
    if (functionName === 'settle') return [args[0].escrowId]
    if (functionName !== 'settleBatch') throw new Error(`${functionName} settles nothing`)
    return args[0].map(({ terms }) => terms.escrowId)
  })
}

/** Sets the state of the transactions that are under way. */
const end = (state: 'sent' | 'confirmed' | 'failed', block: number | null = null) => database.sql`
  UPDATE sender.intents SET state = ${state}, nonce = id, gas = 1, block_number = ${block}, mined_hash = ${block && bytes32(1)},
    block_hash = ${block && bytes32(1)}
  WHERE chain_id = ${chainId} AND state = 'enqueued'`

const reach = (block: number, at: number) => database.sql`
  INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
  VALUES (${chainId}, ${block}, ${bytes32(1)}, ${new Date(at)}, ${block}, ${block}, ${new Date(at)})
  ON CONFLICT (chain_id) DO UPDATE SET block_number = excluded.block_number, block_time = excluded.block_time`

describe('a release', () => {
  beforeEach(() => review(1, {}))

  it('is decided when the last of what earns it is there, whatever that is', async () => {
    await buy({ escrowId: 1 }, { escrowId: 2, buyer: null })
    await followAll()
    expect(await decided()).toEqual([])
    await review(11, { of: 1 })
    await review(12, { of: 2 })
    await followAll()
    expect(await decided()).toEqual(['1 release 1'])
    await asIndexer(
      database.sql,
      (tx) =>
        tx`UPDATE chain.escrows SET buyer_agent_id = ${BUYER} WHERE chain_id = ${chainId} AND escrow_id = 2`,
    )
    await followAll()
    expect(await decided()).toEqual(['1 release 1', '2 release 1'])
  })

  it('waits for the text of the review, and is none where nothing is set aside', async () => {
    await buy({ escrowId: 1 }, { escrowId: 2, cashback: 0 })
    const internalId = await review(11, { of: 1 })
    await review(12, { of: 2 })
    await database.sql`UPDATE market.reviews SET content = NULL WHERE internal_id = ${internalId}`
    await followAll()
    expect(await decided()).toEqual([])
    await database.sql`UPDATE market.reviews SET content = '{}' WHERE internal_id = ${internalId}`
    await followAll()
    expect(await decided()).toEqual(['1 release 1'])
  })

  it('waits for votes where there was something to vote on, and comes with the ballot', async () => {
    await asIndexer(database.sql, async (tx) => {
      for (const [agentId, owner] of [
        [1, 101],
        [BUYER, 105],
        [9, 109],
      ] as const) {
        await tx`
          INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
          VALUES (${chainId}, ${agentId}, ${account(owner)}, ${account(0)}, '', now())`
      }
    })
    const other = await review(8, {})
    await asIndexer(
      database.sql,
      (tx) => tx`
      UPDATE chain.reviews SET agent_id = 9, published_at = '2025-01-01' WHERE internal_id = ${other}`,
    )
    await buy({ escrowId: 1 })
    await review(11, { of: 1 })
    await followAll()
    expect(await decided()).toEqual([])
    await database.sql.begin(async (tx) => {
      const [ballot] = await tx<[{ ballot_id: bigint }]>`
        INSERT INTO market.ballots
          (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
        VALUES (${chainId}, ${account(1)}, ${account(1)}, ${bytes32(1)}, 1, ${BUYER}, '', '', 0, '', now()) RETURNING ballot_id`
      await tx`
        INSERT INTO market.votes
        VALUES (${ballot.ballot_id}, ${other}, 1, 'because', ${chainId}, ${BUYER}, 9, ${account(105)}, true, 1, now())`
    })
    await followAll()
    expect(await decided()).toEqual(['1 release 1'])
  })

  it('is not decided without a key; with one, what was earned before is found', async () => {
    await buy(...Array.from({ length: 450 }, (_, at) => ({ escrowId: at + 1 })))
    for (const escrowId of [1, 201, 450]) await review(1_000 + escrowId, { of: escrowId })
    while (await follow(withoutKey)) {}
    await run(catchUpReleases, withoutKey)
    expect(await decided()).toEqual([])
    await run(catchUpReleases)
    await run(catchUpReleases)
    expect(await decided()).toEqual(['1 release 1', '201 release 1', '450 release 1'])
  })

  it('is tried again a minute after it was decided when it failed, then after two, and no more when the chain shows it', async () => {
    await buy({ escrowId: 1 })
    await review(11, { of: 1 })
    await followAll()
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 release 1'])
    await end('failed')
    clock.now += MINUTE - 1
    await run(settleEscrows)
    await run(catchUpReleases)
    expect(await decided()).toEqual(['1 release 1'])
    clock.now += 1
    await run(settleEscrows)
    await end('failed')
    clock.now += 2 * MINUTE - 1
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 release 1', '1 release 2'])
    clock.now += 1
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 release 1', '1 release 2', '1 release 3'])
    await end('confirmed', 50)
    await asIndexer(
      database.sql,
      (tx) => tx`UPDATE chain.escrows SET cashback_released_at = now() WHERE chain_id = ${chainId}`,
    )
    clock.now += 60 * MINUTE
    await run(settleEscrows)
    expect(await decided()).toHaveLength(3)
    const open =
      await database.sql`SELECT FROM market.escrow_decisions WHERE chain_id = ${chainId} AND is_open`
    expect(open).toHaveLength(0)
  })

  it('is tried again once when more than one attempt has failed since anybody looked', async () => {
    await buy({ escrowId: 1 })
    await review(11, { of: 1 })
    await followAll()
    await end('failed')
    clock.now += MINUTE
    await run(catchUpReleases)
    await end('failed')
    clock.now += 2 * MINUTE
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 release 1', '1 release 2', '1 release 3'])
  })

  it('is not sent behind a settlement that is on its way, but is beside one that waits and does not pay it', async () => {
    clock.head = WINDOW_END
    await buy({ escrowId: 1 })
    await run(settleEscrows)
    await end('sent')
    await buy({ escrowId: 2 })
    await run(settleEscrows)
    await review(11, { of: 1 })
    await review(12, { of: 2 })
    await followAll()
    await run(catchUpReleases)
    expect(await decided()).toEqual(['1 settle 1', '2 settle 1', '2 release 1'])
  })

  it('is left to a settlement that pays it', async () => {
    clock.head = WINDOW_END
    await buy({ escrowId: 1 })
    await review(11, { of: 1 })
    await run(settleEscrows)
    await followAll()
    await run(catchUpReleases)
    expect(await decided()).toEqual(['1 settle 1'])
  })
})

describe('a settlement', () => {
  it('is decided for all that are due, page by page, at the second at which their window ends', async () => {
    await buy(...Array.from({ length: 450 }, (_, at) => ({ escrowId: at + 1 })))
    await run(settleEscrows)
    expect(await decided()).toEqual([])
    clock.head = WINDOW_END
    await run(settleEscrows)
    expect(await decided()).toHaveLength(450)
    const sizes = (await sentBatches()).map((escrows) => escrows.length)
    // Two pages of 200 escrows and one of 50.
    expect(sizes).toEqual([...Array(6).fill(32), 8, ...Array(6).fill(32), 8, 32, 18])
    expect((await sentBatches()).flat()).toEqual(Array.from({ length: 450 }, (_, at) => BigInt(at + 1)))
  })

  it('is not sent for escrows that hold nothing, nor are they late', async () => {
    clock.head = WINDOW_END
    await buy({ escrowId: 1, heldBack: 0, cashback: 0 }, { escrowId: 2, heldBack: 0 })
    await asIndexer(
      database.sql,
      (tx) =>
        tx`UPDATE chain.escrows SET cashback_released_at = now() WHERE chain_id = ${chainId} AND escrow_id = 2`,
    )
    await run(settleEscrows)
    expect(await decided()).toEqual([])
    expect((await oracleFigures(context)).map(({ oldestDueSeconds }) => oldestDueSeconds)).toEqual([0, 0])
    await buy({ escrowId: 3, heldBack: 0 }, { escrowId: 4, cashback: 0 })
    await run(settleEscrows)
    expect(await decided()).toEqual(['3 settle 1', '4 settle 1'])
  })

  it('that its batch skipped is sent again alone, and the others of the batch are done', async () => {
    clock.head = WINDOW_END
    await buy({ escrowId: 1 }, { escrowId: 2 }, { escrowId: 3 })
    await run(settleEscrows)
    expect(await sentBatches()).toEqual([[1n, 2n, 3n]])
    await end('confirmed', 100)
    await asIndexer(database.sql, async (tx) => {
      await tx`UPDATE chain.escrows SET settled_at = now() WHERE chain_id = ${chainId} AND escrow_id = 1`
      const skipped = [2, 3].map((escrowId, at) => ({
        chain_id: chainId,
        block_number: 100,
        log_index: at,
        contract: account(1),
        payer: account(escrowId),
        nonce: bytes32(escrowId),
        escrow_id: escrowId,
        transaction_hash: bytes32(1),
        reason: Buffer.alloc(0),
      }))
      await tx`INSERT INTO chain.skipped_escrows ${tx(skipped)}`
    })
    await reach(100, WINDOW_END)
    await run(settleEscrows)
    expect(await decided()).toHaveLength(3)
    clock.now += MINUTE
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 settle 1', '2 settle 1', '2 settle 2', '3 settle 1', '3 settle 2'])
    expect(await sentBatches()).toEqual([[1n, 2n, 3n], [2n], [3n]])
  })

  it('waits until the records have all of the window', async () => {
    await buy({ escrowId: 1 })
    clock.head = WINDOW_END + MINUTE
    await reach(99, WINDOW_END - 1)
    await run(settleEscrows)
    expect(await decided()).toEqual([])
    await reach(100, WINDOW_END)
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 settle 1'])
  })

  it.each([
    { outcome: 'pending', upheld: null, contradicted: false },
    { outcome: 'confirmed', upheld: null, contradicted: false },
    { outcome: 'contradicted', upheld: null, contradicted: true },
    { outcome: 'resolved', upheld: false, contradicted: false },
    { outcome: 'resolved', upheld: true, contradicted: true },
  ])(
    'of a review that is $outcome, upheld $upheld: contradicted $contradicted',
    async ({ outcome, upheld, contradicted }) => {
      const internalId = await review(1, { outcome })
      if (upheld !== null) {
        await database.sql`
        INSERT INTO market.dispute_decisions (internal_id, decided_by, note, upheld) VALUES (${internalId}, '', '', ${upheld})`
      }
      await buy({ escrowId: 1 })
      clock.head = WINDOW_END
      await run(settleEscrows)
      const [decision] = await database.sql`
      SELECT contradicted, cashback_earned, inputs FROM market.escrow_decisions WHERE chain_id = ${chainId}`
      expect(decision).toMatchObject({
        contradicted,
        cashback_earned: false,
        inputs: { review_id: 1, comparison_outcome: outcome, upheld, block: 100, buyer_agent_id: BUYER },
      })
    },
  )

  it('tells agent 0 from no agent', async () => {
    await buy({ escrowId: 1, buyer: 0 }, { escrowId: 2, buyer: null })
    clock.head = WINDOW_END
    await run(settleEscrows)
    const rows = await database.sql`
      SELECT inputs->'buyer_agent_id' AS buyer FROM market.escrow_decisions WHERE chain_id = ${chainId} ORDER BY escrow_id`
    expect(rows.map(({ buyer }) => buyer)).toEqual([0, null])
  })

  it('that a deep reorganisation took back is decided again, once the records are past its block without it', async () => {
    await buy({ escrowId: 1 })
    clock.head = WINDOW_END
    await reach(40, WINDOW_END)
    await run(settleEscrows)
    await end('confirmed', 50)
    clock.now += MINUTE
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 settle 1'])
    await reach(50, WINDOW_END)
    await run(settleEscrows)
    expect(await decided()).toEqual(['1 settle 1', '1 settle 2'])
  })

  it('is late when the oracle is silent, and a dispute that is waited for is not', async () => {
    const dueSeconds = async () =>
      (await oracleFigures(context)).map(({ oldestDueSeconds }) => oldestDueSeconds)
    await review(1, { outcome: 'disputed' })
    await buy({ escrowId: 1, reviewId: 1 })
    expect(await dueSeconds()).toEqual([0, 0])
    await buy({ escrowId: 2, reviewId: 2 })
    expect(await dueSeconds()).toEqual([1, 1])
    clock.head = WINDOW_END
    await run(settleEscrows)
    expect(await oracleFigures(context)).toMatchObject([
      { chainId, kind: 'release', open: 0 },
      { chainId, kind: 'settle', open: 1 },
    ])
  })
})

it('waits, for so long as nobody else may settle, until what changed has been followed', async () => {
  await review(1, { outcome: 'contradicted' })
  await buy({ escrowId: 1 })
  await reach(100, WINDOW_END)
  clock.head = WINDOW_END
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, subject) SELECT ${chainId}, 'agent', n FROM generate_series(1, 500) AS n`
  await run(settleEscrows)
  expect(await decided()).toEqual([])
  await followAll()
  await database.sql`
    INSERT INTO market.comparisons_under_way (chain_id, merchant_id, product_id, after) VALUES (${chainId}, ${MERCHANT}, ${bytes32(1)}, 0)`
  await run(settleEscrows)
  expect(await decided()).toEqual([])
  clock.head = WINDOW_END + 8 * 24 * 60 * MINUTE
  await run(settleEscrows)
  expect(await decided()).toEqual(['1 settle 1'])
})

it('waits, for so long as nobody else may settle, until the registry tells how the reviewer is paid', async () => {
  await buy({ escrowId: 1, reviewer: 1 }, { escrowId: 2, reviewer: 2 })
  clock.head = WINDOW_END
  unreadable.add(1n)
  await run(settleEscrows)
  expect(await decided()).toEqual(['2 settle 1'])
  expect(warnings).toEqual([
    [
      { chain: chainId, escrows: 1, agents: ['1'] },
      'settlements wait: the identity registry does not tell whom to pay',
    ],
  ])
  unreadable.clear()
  await run(settleEscrows)
  expect(await decided()).toEqual(['1 settle 1', '2 settle 1'])

  await buy({ escrowId: 3, reviewer: 3 })
  unreadable.add(3n)
  clock.head = WINDOW_END + 8 * 24 * 60 * MINUTE - 1_000
  await run(settleEscrows)
  expect(await decided()).toEqual(['1 settle 1', '2 settle 1'])
  // The contract keeps the reviewer's part for it. The fallback would give it to the treasury.
  clock.head += 1_000
  await run(settleEscrows)
  expect(await decided()).toEqual(['1 settle 1', '2 settle 1', '3 settle 1'])
})

it('is decided anew when the key it was to be sent with is not the oracle’s any more', async () => {
  await review(1, {})
  await buy({ escrowId: 1 })
  await review(101, { of: 1 })
  await followAll()
  expect(await decided()).toEqual(['1 release 1'])
  const config = { oracle: { address: privateKeyToAddress(numberToHex(8, { size: 32 })) } }
  const withNewKey = { ...context, config } as unknown as Context
  for (const [minutes, attempts] of [
    [9, 1],
    [1, 2],
    [10, 2],
  ] as const) {
    clock.now += minutes * MINUTE
    await run(catchUpReleases, withNewKey)
    expect(await decided()).toHaveLength(attempts)
  }
})

it('is decided once, however many look at the same time', async () => {
  await review(1, {})
  await buy(...Array.from({ length: 60 }, (_, at) => ({ escrowId: at + 1 })))
  for (let of = 1; of <= 30; of += 1) await review(100 + of, { of })
  await Promise.all([
    ...Array.from({ length: 4 }, () => run(catchUpReleases)),
    ...Array.from({ length: 4 }, () => follow()),
  ])
  expect(await decided()).toHaveLength(30)
  await end('failed')
  clock.now += MINUTE
  clock.head = WINDOW_END
  await Promise.all([
    ...Array.from({ length: 4 }, () => run(settleEscrows)),
    ...Array.from({ length: 4 }, () => run(catchUpReleases)),
  ])
  const live = await database.sql`
    SELECT d.escrow_id, d.kind FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} AND i.state <> 'failed' GROUP BY 1, 2 HAVING count(*) > 1`
  expect(live).toEqual([])
  expect((await decided()).filter((line) => line.includes('settle'))).toHaveLength(60)
})
