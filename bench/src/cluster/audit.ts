// Afterwards: what the callers were told, what the chain says, and what the records say.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { Hex } from 'viem'
import { audit as auditSettlements } from '../settle/audit.ts'
import type { Outcome } from '../settle/load.ts'
import type { Shop } from '../settle/market.ts'
import type { Journey } from './journeys.ts'
import type { Writes } from './writes.ts'

export interface Told {
  outcomes: readonly Outcome[]
  journeys: readonly Journey[]
  writes: Pick<Writes, 'acknowledged' | 'stale'>
}

export interface Found {
  settled: number
  released: number
  votes: number
  reviews: number
  transactions: number
  reverted: number
}

/** What was there before the load. */
export interface Before {
  block: bigint
  escrowBalance: bigint
}

export async function lookBefore({ market }: Shop): Promise<Before> {
  return { block: await market.client.getBlockNumber(), escrowBalance: await escrowBalance(market) }
}

const escrowBalance = ({ client, addresses }: Shop['market']) =>
  client.readContract({
    address: addresses.USDC,
    abi: sandboxUSDCAbi,
    functionName: 'balanceOf',
    args: [addresses.CommissionEscrow],
  })

const PATIENCE_MS = 180_000

/** Throws with everything that was lost or is there twice. */
export async function auditCluster(
  shop: Shop,
  { service, facilitator }: { service: Sql; facilitator: Sql },
  before: Before,
  { outcomes, journeys, writes }: Told,
): Promise<Found> {
  await atRest(shop, service, facilitator, journeys)
  const problems: string[] = []
  // Throws by itself: a payment that is there twice, or one that was answered and is not there.
  const { settled, transactions, reverted } = await auditSettlements(shop, 'escrow', {
    since: before.block,
    outcomes,
  })
  const { client, addresses } = shop.market
  const escrow = {
    address: addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    fromBlock: 0n,
    strict: true,
  } as const
  const deposits = await client.getContractEvents({ ...escrow, eventName: 'EscrowDeposited' })

  const recorded = await service<{ escrow_id: bigint; nonce: Hex; price: bigint }[]>`
    SELECT escrow_id, '0x' || encode(nonce, 'hex') AS nonce, price FROM chain.escrows ORDER BY escrow_id`
  compare(problems, 'purchases in the records', {
    chain: deposits.map(({ args }) => `${args.escrowId} ${args.nonce} ${args.price}`),
    records: recorded.map(({ escrow_id, nonce, price }) => `${escrow_id} ${nonce} ${price}`),
  })
  const settlements = await facilitator<{ nonce: Hex }[]>`
    SELECT '0x' || encode(nonce, 'hex') AS nonce FROM facilitator.settlements WHERE state = 'settled'`
  compare(problems, "settlements in the facilitator's records", {
    chain: deposits.map(({ args }) => args.nonce),
    records: settlements.map(({ nonce }) => nonce),
  })

  const ballots = await service<
    { nonce: Hex }[]
  >`SELECT '0x' || encode(nonce, 'hex') AS nonce FROM market.ballots`
  const nonceOf = new Map(deposits.map(({ args }) => [args.escrowId, args.nonce]))
  const voted = journeys
    .filter(({ hasVoted }) => hasVoted)
    .map(({ escrowId }) => nonceOf.get(escrowId) ?? String(escrowId))
  missing(
    problems,
    'votes',
    voted,
    ballots.map(({ nonce }) => nonce),
  )
  twice(
    problems,
    'votes',
    ballots.map(({ nonce }) => nonce),
  )
  const reviews = await service<{ review_id: bigint }[]>`
    SELECT c.review_id FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NOT NULL`
  missing(
    problems,
    'reviews',
    journeys.map(({ reviewId }) => String(reviewId)),
    reviews.map(({ review_id }) => String(review_id)),
  )
  const releases = await client.getContractEvents({ ...escrow, eventName: 'CashbackReleased' })
  const released = releases.map(({ args }) => String(args.escrowId))
  missing(
    problems,
    'cashbacks',
    journeys.map(({ escrowId }) => String(escrowId)),
    released,
  )
  twice(problems, 'cashbacks', released)

  for (const [owner, cap] of writes.acknowledged) {
    const [row] = await service<{ cap: bigint }[]>`
      SELECT per_tx_cap AS cap FROM market.spending_limits WHERE owner = ${Buffer.from(owner.address.slice(2), 'hex')}`
    // A write without an answer may have been stored, too.
    if (!row || row.cap < BigInt(cap))
      problems.push(`${owner.address} was told that ${cap} is stored, and it is ${row?.cap}`)
  }
  problems.push(...writes.stale)

  const since = deposits.filter(({ blockNumber }) => blockNumber > before.block)
  const held = since.reduce((sum, { args }) => sum + args.fee + args.heldBack + args.cashback, 0n)
  const paidOut = releases
    .filter(({ blockNumber }) => blockNumber > before.block)
    .reduce((sum, { args }) => sum + args.amount, 0n)
  const balance = await escrowBalance(shop.market)
  if (balance - before.escrowBalance !== held - paidOut)
    problems.push(`the escrow holds ${balance}, not ${held - paidOut}`)
  if (problems.length > 0) throw new Error(`the audit found:\n  ${problems.join('\n  ')}`)
  return {
    settled,
    transactions,
    reverted,
    released: released.length,
    votes: ballots.length,
    reviews: reviews.length,
  }
}

/** Until all is sent, indexed and followed. */
async function atRest(
  shop: Shop,
  service: Sql,
  facilitator: Sql,
  journeys: readonly Journey[],
): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const head = await shop.market.client.getBlock()
    const [state] = await service<
      { indexed: Hex | null; changes: number; outbox: number; released: number }[]
    >`
      SELECT (SELECT '0x' || encode(block_hash, 'hex') FROM indexer.checkpoints LIMIT 1) AS indexed,
        (SELECT count(*)::int FROM market.pending_changes) AS changes,
        (SELECT count(*)::int FROM sender.intents WHERE state IN ('enqueued', 'sent')) AS outbox,
        (SELECT count(*)::int FROM market.escrow_decisions WHERE kind = 'release') AS released`
    const [settling] = await facilitator<{ open: number }[]>`
      SELECT count(*)::int AS open FROM facilitator.settlements WHERE state = 'pending'`
    const waits = [
      state?.indexed === head.hash ? '' : 'the indexer',
      state?.changes ? `${state.changes} changes` : '',
      state?.outbox ? `${state.outbox} transactions` : '',
      (state?.released ?? 0) < journeys.length ? `${journeys.length - (state?.released ?? 0)} cashbacks` : '',
      settling?.open ? `${settling.open} settlements` : '',
    ].filter(Boolean)
    if (waits.length === 0) return
    if (performance.now() > end)
      throw new Error(`still waiting after ${PATIENCE_MS / 1_000} s for ${waits.join(', ')}`)
    await sleep(500)
  }
}

function compare(
  problems: string[],
  what: string,
  { chain, records }: { chain: string[]; records: string[] },
): void {
  missing(problems, what, chain, records)
  missing(problems, `${what}, which the chain does not know`, records, chain)
  twice(problems, what, records)
}

function missing(
  problems: string[],
  what: string,
  wanted: readonly string[],
  there: readonly string[],
): void {
  const known = new Set(there)
  const lost = wanted.filter((each) => !known.has(each))
  if (lost.length > 0) problems.push(`${what}: ${lost.length} missing, such as ${lost[0]}`)
}

function twice(problems: string[], what: string, there: readonly string[]): void {
  const count = there.length - new Set(there).size
  if (count > 0) problems.push(`${what}: ${count} there twice`)
}
