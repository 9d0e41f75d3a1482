import { type Address, isAddressEqual } from 'viem'
import { MarketError, unavailable } from './market-error.ts'

/** The owner that is read from the chain. Refuses when there is no such agent; the read itself decides how long it waits for one. */
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
