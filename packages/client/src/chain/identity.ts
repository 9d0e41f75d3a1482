import { identityRegistryAbi } from '@referrer/protocol/abi'
import {
  type Account,
  type Address,
  type Chain,
  type Hash,
  type Log,
  type PublicClient,
  parseEventLogs,
  type Transport,
  type WalletClient,
} from 'viem'

export interface Registered {
  agentId: bigint
  transaction: Hash
}

/** Mints an ERC-8004 identity for the wallet's account. Calling it twice mints two: remember the id. */
export async function registerIdentity(
  client: PublicClient,
  wallet: WalletClient<Transport, Chain, Account>,
  { identityRegistry, uri = '' }: { identityRegistry: Address; uri?: string },
): Promise<Registered> {
  const transaction = await wallet.writeContract({
    address: identityRegistry,
    abi: identityRegistryAbi,
    functionName: 'register',
    args: [uri],
  })
  const { logs, status } = await client.waitForTransactionReceipt({ hash: transaction })
  if (status !== 'success') throw new Error(`transaction ${transaction} registered no identity`)
  return { agentId: identityIn(logs), transaction }
}

/** The identity that a transaction registered, from its logs. */
export function identityIn(logs: Log[]): bigint {
  const [event] = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs })
  if (!event) throw new Error('the transaction registered no identity')
  return event.args.agentId
}
