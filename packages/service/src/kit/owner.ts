import { type Address, isAddressEqual } from 'viem'
import { MarketError, unavailable } from './market-error.ts'

/** The owner of an agent, from the chain. Refuses when the agent does not exist; `read` decides how long to retry before that. */
export async function resolveOwner(
  agentId: bigint,
  read: () => Promise<Address | undefined>,
): Promise<Address> {
  const owner = await read().catch((error: unknown) => {
    throw unavailable(`agent ${agentId}: resolve owner on-chain`, error)
  })
  if (!owner) throw new MarketError('not found', `agent ${agentId} not found on-chain`)
  return owner
}

export function requireOwner(owner: Address, caller: Address): void {
  if (!isAddressEqual(owner, caller)) throw new MarketError('unauthorized', 'caller does not own this agent')
}
