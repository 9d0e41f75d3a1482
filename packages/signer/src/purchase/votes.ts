import { VotesHash } from '@referrer/protocol'
import type { LocalAccount } from 'viem'
import { z } from 'zod'
import { retried, withBackend } from '../backend.ts'
import type { Chain } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { explain } from '../refused.ts'
import { signExpected } from '../sign-commitment.ts'
import type { Vote } from './order.ts'

const Step1 = z.object({ commitment: z.unknown(), nonce: z.string(), expiry: z.int() })
const Step2 = z.object({ votes_recorded: z.int() })

export interface Cast {
  votes_recorded: number
  votes_error: string | null
}

interface Ballot {
  agentId: string
  escrowId: number
  votes: Vote[]
}

/** The purchase is already paid, so an error here is reported in the result and does not fail the call. */
export async function castVotes(
  context: Context,
  chain: Chain,
  account: LocalAccount,
  ballot: Ballot,
): Promise<Cast> {
  try {
    return { votes_recorded: await submitVotes(context, chain, account, ballot), votes_error: null }
  } catch (error) {
    const why = error instanceof z.ZodError ? 'the answer of the marketplace cannot be read' : explain(error)
    return { votes_recorded: 0, votes_error: why }
  }
}

/** Returns how many votes were recorded. */
export async function submitVotes(
  context: Context,
  chain: Chain,
  account: LocalAccount,
  { agentId, escrowId, votes }: Ballot,
): Promise<number> {
  const ballot = { agent_id: Number(agentId), escrow_id: escrowId, votes, chain_id: chain.chainId }
  return withBackend(context, async (ask) => {
    const { commitment, nonce, expiry } = Step1.parse(await ask('cast_review_votes', ballot))
    const votesHash = VotesHash.votesHash(
      votes.map(({ review_id, reasoning }) => ({ reviewId: review_id, reasoning })),
    )
    const agent_sig = await signExpected(account, 'VoteCommitment', commitment, {
      chainId: chain.chainId,
      message: { agentId, escrowId: String(escrowId), votesHash },
    })
    const signed = { ...ballot, nonce, expiry, agent_sig }
    const answer = await retried(context, /not yet indexed/, () => ask('cast_review_votes', signed))
    return Step2.parse(answer).votes_recorded
  })
}
