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

/**
 * @example
 * ```ts
 * import type { Registered } from '@referrer/client/chain'
 *
 * export const shown = ({ agentId, transaction }: Registered) => `agent ${agentId}, minted by ${transaction}`
 * ```
 */
export interface Registered {
  agentId: bigint
  transaction: Hash
}

/**
 * Mints an ERC-8004 identity for the wallet's account. Calling it twice mints two: remember the id.
 *
 * @example
 * ```ts
 * import { type Deployment, registerIdentity } from '@referrer/client/chain'
 * import { createPublicClient, createWalletClient, http } from 'viem'
 * import { privateKeyToAccount } from 'viem/accounts'
 * import { baseSepolia } from 'viem/chains'
 *
 * declare const deployment: Deployment
 * declare const privateKey: `0x${string}`
 * const connection = { chain: baseSepolia, transport: http() }
 * const wallet = createWalletClient({ ...connection, account: privateKeyToAccount(privateKey) })
 * export const { agentId } = await registerIdentity(createPublicClient(connection), wallet, {
 *   identityRegistry: deployment.contracts.IdentityRegistry,
 * })
 * ```
 */
export async function registerIdentity(
  client: Pick<PublicClient, 'waitForTransactionReceipt'>,
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

/**
 * The identity that a transaction registered, from its logs.
 *
 * @example
 * ```ts
 * import { identityIn } from '@referrer/client/chain'
 * import type { TransactionReceipt } from 'viem'
 *
 * export const agentIn = ({ logs }: TransactionReceipt) => identityIn(logs)
 * ```
 */
export function identityIn(logs: Log[]): bigint {
  const [event] = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs })
  if (!event) throw new Error('the transaction registered no identity')
  return event.args.agentId
}
