// The calls that the oracle sends; decisions about many escrows go into one transaction.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type Hex } from 'viem'
import { hex } from '../../kit/json-values.ts'
import { termsOf } from '../../market/escrows/standing.ts'
import type { Decision } from './decision.ts'

/** Each escrow of a batch can use 320,000 gas in the worst case; this many always fit into a block. */
const MOST_IN_BATCH = 32

/** All decisions of a batch have the same kind and the same contract. */
export type Batch = [Decision, ...Decision[]]

/**
 * An escrow with a failed attempt goes alone. If a batch skipped it, the sender's simulation of the single call tells
 * the reason without cost. And if a batch fails as a whole, as on contracts deployed before batches existed, its
 * escrows still go through.
 */
export function batchesOf(decisions: readonly Decision[]): Batch[] {
  const alone = decisions.filter(({ escrow }) => escrow.attempts > 0)
  const groups = Map.groupBy(
    decisions.filter(({ escrow }) => escrow.attempts === 0),
    ({ kind, escrow }) => `${kind} ${hex(escrow.contract)}`,
  )
  const batches = [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MOST_IN_BATCH) }, (_, at) =>
      group.slice(at * MOST_IN_BATCH, (at + 1) * MOST_IN_BATCH),
    ),
  )
  return [...batches, ...alone.map((decision) => [decision])] as Batch[]
}

/** A single decision uses the call without a batch, which is cheaper. */
export function callOf(batch: Batch): Hex {
  const [first, ...others] = batch
  const abi = commissionEscrowAbi
  if (first.kind === 'release') {
    const terms = termsOf(first.escrow)
    return others.length === 0
      ? encodeFunctionData({ abi, functionName: 'releaseCashback', args: [terms] })
      : encodeFunctionData({
          abi,
          functionName: 'releaseBatch',
          args: [batch.map(({ escrow }) => termsOf(escrow))],
        })
  }
  const settlements = batch.map(({ escrow, contradicted, cashbackEarned }) => ({
    terms: termsOf(escrow),
    contradicted,
    cashbackEarned,
  }))
  const { contradicted, cashbackEarned } = first
  return others.length === 0
    ? encodeFunctionData({
        abi,
        functionName: 'settle',
        args: [termsOf(first.escrow), contradicted, cashbackEarned],
      })
    : encodeFunctionData({ abi, functionName: 'settleBatch', args: [settlements] })
}

/** The label that operators see in the outbox. */
export const labelOf = ([{ kind, escrow }, ...others]: Batch): string =>
  others.length === 0
    ? `${kind} escrow ${escrow.escrow_id}`
    : `${kind} escrow ${escrow.escrow_id} and ${others.length} more`
