// What an escrow pays to its reviewer goes to whom the identity registry names. That contract is a third party's: while it
// does not answer, what is settled only becomes claimable, so the oracle waits.
import { RpcError, readContract } from '@referrer/chain'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import type { Chain } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import type { TermsRow } from '../../market/escrows/store.ts'

type Escrow = Pick<TermsRow, 'contract' | 'reviewer_agent_id'>
export type IsPayable = (escrow: Escrow) => boolean

/** Asks the escrow contracts which reviewers could be paid now. A reviewer that was not asked about is not payable. */
export async function readPayees(chain: Chain, escrows: readonly Escrow[]): Promise<IsPayable> {
  const payable = new Set<string>()
  await Promise.all(
    [...Map.groupBy(escrows, ({ contract }) => hex(contract))].map(async ([address, group]) => {
      const agentIds = [...new Set(group.map(({ reviewer_agent_id }) => reviewer_agent_id))]
      const answers = await areReadable(chain, address, agentIds)
      for (const [at, agentId] of agentIds.entries()) if (answers[at]) payable.add(`${address} ${agentId}`)
    }),
  )
  return ({ contract, reviewer_agent_id }) => payable.has(`${hex(contract)} ${reviewer_agent_id}`)
}

async function areReadable(chain: Chain, address: ReturnType<typeof hex>, agentIds: readonly bigint[]) {
  try {
    const read = { address, abi: commissionEscrowAbi, functionName: 'areReadable', args: [agentIds] } as const
    return await readContract(chain, read)
  } catch (error) {
    // The node's gas for a call was not enough: the registry burns what it is given.
    if (error instanceof RpcError && error.kind === 'reverted') return []
    throw error
  }
}
