import { setTimeout as sleep } from 'node:timers/promises'
import { int, seeded, seedOf } from '@referrer/chain/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Service } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must } from '../http/caller.ts'
import { DAY, send, travel } from '../http/chain.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { newcomer, newProduct, type Person, type Review } from '../http/town.ts'
import { audit, revertedOf } from './audit.ts'
import {
  type Act,
  binding,
  buying,
  disputing,
  flagging,
  type Life,
  meddling,
  telling,
  tellingAgain,
  transferring,
  undoing,
  voting,
  waiting,
} from './life.ts'
import { decided, look, mineBlocks, RETRY_MS, rest, startReplica, writeWithCashback } from './world.ts'

const ROUNDS = Number(process.env.TORTURE_ROUNDS ?? 1)
/** More blocks than are ever removed here. */
const CONFIRMATIONS = 60

const seed = seedOf()
const random = seeded(seed)
let m: TestMarket
let replica: Service
let life: Life

beforeAll(async () => {
  console.log(`a life with the oracle: SEED=${seed}`)
  m = await startTestMarket({ confirmations: CONFIRMATIONS })
  replica = await startReplica(m)
  const people = async (count: number) => {
    const all: Person[] = []
    for (let left = count; left > 0; left -= 1) all.push(await newcomer(m))
    return all
  }
  const authors = await people(3)
  const town = { m, merchantId: await openRecorded(m) }
  const reviews: Review[] = []
  for (const product of [await newProduct(town), await newProduct(town, { oneOff: true })])
    for (const [at, author] of authors.entries())
      reviews.push(await writeWithCashback(m, author, product, 1 + 2 * at))
  const [wallet, ...buyers] = (await people(6)) as [Person, ...Person[]]
  life = { m, random, reviews, authors, buyers, wallet }
})
afterAll(async () => {
  await replica?.stop()
  await m?.close()
})

/** Cuts all connections of the replicas. */
const cutting: Act = async () => {
  await m.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5 AND application_name <> 'referrer tests'`
}

const silence: Act = async () => {
  m.nodes.isDown = true
  await waiting(life)
  await sleep(int(random, 0, 300))
  m.nodes.isDown = false
}

const restarting: Act = async () => {
  await replica.stop()
  await waiting(life)
  replica = await startReplica(m)
}

/** The guardian pauses the contracts for a while. */
const pausing: Act = async () => {
  const { guardian } = m.market.accounts
  await send(m, call(m, guardian, 'CommissionEscrow', 'pause', []))
  await waiting(life)
  await lookBoth(life)
  await send(m, call(m, guardian, 'CommissionEscrow', 'unpause', []))
}

/** Both replicas look at the same time; one that loses its connection looks again later. */
const lookBoth: Act = async () => {
  await Promise.allSettled([m.service, replica].map(look))
}

/** The oracle settles while others act on the same escrows. */
const racing: Act = async () => {
  await waiting(life)
  await Promise.all([lookBoth, binding, meddling].map((act) => act(life)))
}

/** The oracle settles what is due. */
const settling: Act = async () => {
  await waiting(life)
  await m.indexed()
  await lookBoth(life)
  await sleep(200)
}

function plan(): Act[] {
  const many = (count: number, act: Act) => Array.from({ length: count }, () => act)
  const acts = [
    ...many(15, buying),
    ...many(8, voting),
    ...many(24, telling),
    ...many(4, tellingAgain),
    ...many(3, binding),
    ...many(4, disputing),
    ...many(3, flagging),
    ...many(2, transferring),
    ...many(4, waiting),
    ...many(3, lookBoth),
    ...many(3, racing),
    ...many(2, meddling),
    ...many(5, undoing([buying, telling, voting, transferring, settling, settling])),
    ...many(3, cutting),
    silence,
    restarting,
    pausing,
  ]
  return acts
    .map((act) => ({ act, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ act }) => act)
}

/** Runs the oracle until it has nothing left to do. */
async function finish(): Promise<void> {
  await until(
    async () => {
      await mineBlocks(m, CONFIRMATIONS)
      await m.indexed()
      m.clock.aheadMs += RETRY_MS
      await lookBoth(life)
      await sleep(300)
      const { count } = await m.sql`
      SELECT FROM sender.intents WHERE state IN ('enqueued', 'sent')
      UNION ALL SELECT FROM chain.escrows WHERE settled_at IS NULL LIMIT 1`
      return count === 0
    },
    'everything to be settled',
    200_000,
  )
  await rest(m)
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
  `round %i: whatever people and machines do for seventy days, the oracle pays each once, and ranks are what they should be (SEED=${seed})`,
  async () => {
    for (const act of plan()) await act(life)
    await travel(m, 70 * DAY)
    m.clock.aheadMs += 70 * DAY * 1_000
    await finish()
    // Reverts are allowed, because others act on the same escrows in the same blocks.
    await audit(m, { reverted: 'any' })

    const escrows = await m.sql<{ escrow_id: bigint; agent_id: bigint }[]>`
      SELECT escrow_id, reviewer_agent_id AS agent_id FROM chain.escrows ORDER BY escrow_id`
    expect(escrows.length).toBeGreaterThanOrEqual(30)
    for (const { escrow_id, agent_id } of escrows) {
      const path = `/v1/escrow/${escrow_id}/status?agent_id=${agent_id}`
      const { held_back, cashback } = await until(async () => {
        const status = await must(m.call('GET', path, { as: life.wallet.owner }))
        return status.state === 'settled' && status
      }, `the chain to tell that escrow ${escrow_id} is settled`)
      for (const { status } of [held_back, cashback])
        expect(['none', 'released', 'window_closed']).toContain(status)
    }
    console.log(await summary(escrows.length))
  },
  300_000,
)

/** Prints what happened, as evidence that the test did something. */
async function summary(escrows: number): Promise<string> {
  const tally = (names: string[]) =>
    Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
  const decisions = [...(await decided(m, 'release')), ...(await decided(m, 'settle'))]
  const outcomes = await m.sql<{ outcome: string }[]>`SELECT outcome FROM market.findings`
  const [counts] = await m.sql`
    SELECT (SELECT count(*)::int FROM market.ballots) AS ballots, (SELECT count(*)::int FROM market.opinions) AS opinions,
      (SELECT count(*)::int FROM market.rank_evidence) AS evidence, (SELECT count(*)::int FROM market.disputes) AS disputes,
      (SELECT count(*)::int FROM chain.escrows WHERE fallback_used) AS fallbacks`
  return JSON.stringify({
    seed,
    escrows,
    ...counts,
    reverted: (await revertedOf(m)).length,
    decisions: tally(decisions.map(({ kind, state }) => `${kind} ${state}`)),
    contradicted: decisions.filter(({ contradicted }) => contradicted).length,
    findings: tally(outcomes.map(({ outcome }) => outcome)),
  })
}
