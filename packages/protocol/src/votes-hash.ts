import { encodeAbiParameters, type Hex, keccak256 } from 'viem'
import { reader, type Uint256Input } from './read.ts'

export type Vote = { reviewId: Uint256Input; reasoning: string }

const VOTES = [
  {
    type: 'tuple[]',
    components: [
      { name: 'reviewId', type: 'uint256' },
      { name: 'reasoning', type: 'string' },
    ],
  },
] as const
const read = reader('invalid_votes')

/**
 * What a `VoteCommitment` signs instead of the votes themselves. The order sent is the order hashed.
 *
 * @example
 * ```ts
 * import { VotesHash } from '@referrer/protocol'
 *
 * const votes: VotesHash.Vote[] = [{ reviewId: 3, reasoning: 'fast and cheap' }]
 * VotesHash.votesHash(votes).length // → 66
 * ```
 */
export function votesHash(votes: readonly Vote[]): Hex {
  const values = votes.map(({ reviewId, reasoning }) => ({
    reviewId: read.uint256(reviewId, 'reviewId'),
    reasoning: read.text(reasoning, 'reasoning'),
  }))
  return keccak256(encodeAbiParameters(VOTES, [values]))
}
