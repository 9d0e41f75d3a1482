// Calls of contracts by a wallet: tried before they are paid for.
import { type identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import {
  type Abi,
  type Account,
  type Address,
  BaseError,
  type Chain,
  type ContractFunctionArgs,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  type Hash,
  keccak256,
  type PublicClient,
  stringToBytes,
  type Transport,
  type WalletClient,
} from 'viem'

/**
 * A call that changes a contract.
 *
 * @example
 * ```ts
 * import type { ContractCall } from '@referrer/client/chain'
 *
 * export const shown = ({ functionName, address }: ContractCall) => `${functionName} of ${address}`
 * ```
 */
export interface ContractCall {
  address: Address
  abi: Abi | typeof merchantRegistryAbi | typeof identityRegistryAbi
  functionName: string
  args: readonly unknown[]
}

type MerchantWrite = ContractFunctionName<typeof merchantRegistryAbi, 'nonpayable'>

/**
 * What a merchant's owner sends to the merchant registry.
 *
 * @example
 * ```ts
 * import { merchantCall } from '@referrer/client/chain'
 *
 * merchantCall(`0x${'11'.repeat(20)}`, 'setActive', [5n, true]).functionName // → 'setActive'
 * ```
 */
export function merchantCall<F extends MerchantWrite>(
  merchantRegistry: Address,
  functionName: F,
  args: ContractFunctionArgs<typeof merchantRegistryAbi, 'nonpayable', F>,
): ContractCall {
  return {
    address: merchantRegistry,
    abi: merchantRegistryAbi,
    functionName,
    args: args as readonly unknown[],
  }
}

/**
 * The role of a server's hot key: it may ask for settlements in the merchant's name, and nothing else.
 *
 * @example
 * ```ts
 * import { merchantCall, SETTLEMENT_SIGNER_ROLE } from '@referrer/client/chain'
 *
 * declare const registry: `0x${string}`
 * declare const hotKey: `0x${string}`
 * export const call = merchantCall(registry, 'grantRole', [5n, SETTLEMENT_SIGNER_ROLE, hotKey])
 * ```
 */
export const SETTLEMENT_SIGNER_ROLE = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))

/**
 * Tries the call first, so that nothing is paid for what the contract refuses, then sends it. The caller waits for the block.
 *
 * @example
 * ```ts
 * import { type Deployment, merchantCall, sendCall } from '@referrer/client/chain'
 * import type { Account, Chain, PublicClient, Transport, WalletClient } from 'viem'
 *
 * declare const deployment: Deployment
 * declare const client: PublicClient
 * declare const wallet: WalletClient<Transport, Chain, Account>
 * const call = merchantCall(deployment.contracts.MerchantRegistry, 'setActive', [5n, true])
 * export const receipt = await client.waitForTransactionReceipt({ hash: await sendCall(client, wallet, call) })
 * ```
 */
export async function sendCall(
  client: Pick<PublicClient, 'simulateContract'>,
  wallet: WalletClient<Transport, Chain, Account>,
  call: ContractCall,
): Promise<Hash> {
  const tried = { ...call, account: wallet.account } as Parameters<typeof client.simulateContract>[0]
  const { request } = await client.simulateContract(tried)
  return wallet.writeContract(request as Parameters<typeof wallet.writeContract>[0])
}

/**
 * What a contract said when it refused; undefined when it was not asked or did not refuse.
 *
 * @example
 * ```ts
 * import { refusalOf } from '@referrer/client/chain'
 *
 * refusalOf(new Error('the node does not answer')) // → undefined
 * ```
 */
export function refusalOf(error: unknown): string | undefined {
  const revert =
    error instanceof BaseError
      ? error.walk((inner) => inner instanceof ContractFunctionRevertedError)
      : undefined
  if (!(revert instanceof ContractFunctionRevertedError)) return undefined
  const { data, reason } = revert
  return data ? `${data.errorName}(${(data.args ?? []).join(', ')})` : (reason ?? 'no reason given')
}
