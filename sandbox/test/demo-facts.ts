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

export function factsOf({ calls, rows, agentIds, merchantIds }: Snapshot) {
  return {
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
