// What a snapshot of the demo market says, without what differs from one making to the next: numbers that were drawn at random, the order
// in which simultaneous purchases were settled, and the ranks that happened to be known by then.
import {
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
  sandboxUSDCAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import { decodeFunctionData, type Hex } from 'viem'
import { REVIEWERS } from '../src/demo/cast.ts'
import { DAYS } from '../src/demo/plan.ts'
import { type Call, DAY_SECONDS, type Row, type Snapshot } from '../src/demo/snapshot.ts'

const abi = [
  ...identityRegistryAbi,
  ...merchantRegistryAbi,
  ...reviewRegistryAbi,
  ...sandboxUSDCAbi,
  ...splitRouterAbi,
] as const

/** The `proof_kind` of a buyer's review. */
const OF_PURCHASE = 2

/** Of rows: times, what the vote commitment of a ballot was signed with, escrow numbers, and weights, which follow ranks. */
const DIFFERING = new Set([
  ...[
    'recorded_at',
    'registered_at',
    'set_at',
    'described_at',
    'submitted_at',
    'reviewed_at',
    'entered_at',
    'flagged_at',
  ],
  ...['cast_at', 'votes_hash', 'commitment_nonce', 'expiry', 'signature'],
  ...['escrow_id', 'weight', 'opinion_weight', 'opinion_size'],
])

/** When a row of each table was made. */
const MADE_AT = [
  'recorded_at',
  'registered_at',
  'set_at',
  'described_at',
  'submitted_at',
  'entered_at',
  'cast_at',
]

/** A snapshot as it was after that many days. */
export function firstDays(snapshot: Snapshot, days: number): Snapshot {
  const end = (days - DAYS) * DAY_SECONDS
  const isBefore = (moment: unknown) => typeof moment === 'number' && moment < end * 1_000
  const isThere = (row: Row) => isBefore(row[MADE_AT.find((name) => name in row) ?? ''])
  // All other rows are written once, or on the day on which they were made.
  const asItWas = (row: Row) => ('flagged' in row ? { ...row, flagged: isBefore(row.flagged_at) } : row)
  return {
    ...snapshot,
    agentIds: snapshot.agentIds.filter((_, at) => (REVIEWERS[at]?.joins ?? 0) < days),
    calls: snapshot.calls.filter(({ at }) => at < end),
    rows: Object.fromEntries(
      Object.entries(snapshot.rows).map(([table, all]) => [table, all.filter(isThere).map(asItWas)]),
    ),
  }
}

export function factsOf({ plan, contracts, calls, rows, agentIds, merchantIds }: Snapshot) {
  return {
    plan,
    contracts,
    agentIds,
    merchantIds,
    calls: calls.flatMap(factsOfCall).sort(),
    rows: Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.map(factsOfRow).sort()])),
  }
}

function factsOfRow(row: Row): string {
  // The proof of a buyer's review is the number of the escrow.
  const isEscrow = (name: string) => name === 'proof_id' && row.proof_kind === OF_PURCHASE
  return JSON.stringify(Object.entries(row).filter(([name]) => !DIFFERING.has(name) && !isEscrow(name)))
}

function factsOfCall({ at, from, to, data }: Call): string[] {
  const sent = { day: Math.floor(at / DAY_SECONDS), from, to }
  const call = decodeFunctionData({ abi, data })
  if (call.functionName === 'settle') return [factOfPurchase(sent, call.args[0])]
  if (call.functionName === 'settleBatch') return call.args[0].map((one) => factOfPurchase(sent, one))
  if (call.functionName === 'publishWithEscrow') {
    const [, { payer, nonce }, contentHash] = call.args
    return [text({ ...sent, payer, nonce, contentHash })]
  }
  return [text({ ...sent, ...call })]
}

interface Purchase {
  authorization: { nonce: Hex; value: bigint; from: Hex; signature: Hex }
  attribution: { commissionMultiplierBps: number }
}

function factOfPurchase(sent: object, { authorization, attribution }: Purchase): string {
  const { commissionMultiplierBps: _rank, ...link } = attribution
  return text({ ...sent, authorization, link })
}

const text = (value: object) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
