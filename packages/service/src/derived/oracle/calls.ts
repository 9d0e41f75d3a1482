// What the oracle sends: many escrows in one transaction, where there are many.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type Hex } from 'viem'
import { hex } from '../../kit/json-values.ts'
import { termsOf } from '../../market/escrows/standing.ts'
import type { Decision } from './decision.ts'

/** Each escrow of a batch may burn 320,000 gas at the worst: so many fit into a block in any case. */
const MOST_IN_BATCH = 32

/** All of one kind and one contract. */
export type Batch = [Decision, ...Decision[]]

/**
 * What was tried before in vain goes alone. Of one that a batch skipped, the sender's simulation then tells why it fails, and that costs
 * nothing. And nothing is held up by a batch that fails as a whole: contracts from before there were batches know none.
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

/** One alone is cheaper without the batch around it. */
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

/** For people who look into the outbox. */
export const labelOf = ([{ kind, escrow }, ...others]: Batch): string =>
  others.length === 0
    ? `${kind} escrow ${escrow.escrow_id}`
    : `${kind} escrow ${escrow.escrow_id} and ${others.length} more`
