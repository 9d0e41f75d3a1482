// The roles of our accounts in the contracts, and the transactions that give and take them.
import { createRpcPool, type RpcPool, readContract } from '@referrer/chain'
import type { ChainConfig, Secret } from '@referrer/process'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import {
  type Address,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  http,
  keccak256,
  publicActions,
  stringToBytes,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { CommandFailed } from '../../command.ts'

export type Job = 'oracle' | 'publisher' | 'relayer'

/** All contracts with roles have the same functions for them. */
const ROLES_ABI = commissionEscrowAbi
const NAMES: Record<Job, string> = {
  oracle: 'ORACLE_ROLE',
  publisher: 'PUBLISHER_ROLE',
  relayer: 'SETTLER_ROLE',
}

export const roleOf = (job: Job) => ({ name: NAMES[job], id: keccak256(stringToBytes(NAMES[job])) })

/** A contract in which the job's account needs its role. */
export interface Post {
  chain: ChainConfig
  contract: string
  address: Address
}

/** Escrows and routers that were replaced still hold money, so the role counts there too. */
export function postsOf(job: Job, chains: readonly ChainConfig[]): Post[] {
  return chains.flatMap((chain) => {
    const { CommissionEscrow, SplitRouter, ReviewRegistry } = chain.contracts
    const named: Record<Job, [string, readonly Address[]]> = {
      oracle: ['CommissionEscrow', CommissionEscrow],
      publisher: ['ReviewRegistry', [ReviewRegistry]],
      relayer: ['SplitRouter', SplitRouter],
    }
    const [contract, addresses] = named[job]
    return addresses.map((address) => ({ chain, contract, address }))
  })
}

export const rpcOf = (chain: ChainConfig): RpcPool =>
  createRpcPool({ chainId: chain.chainId, urls: chain.rpcUrls.map((url) => url.reveal()), fetch })

export const hasRole = (job: Job, { chain, address }: Post, account: Address): Promise<boolean> =>
  readContract(
    { rpc: rpcOf(chain) },
    { address, abi: ROLES_ABI, functionName: 'hasRole', args: [roleOf(job).id, account] },
  )

export const balanceOf = async (chain: ChainConfig, account: Address): Promise<bigint> =>
  hexToBigInt(await rpcOf(chain).request<Hex>('eth_getBalance', [account, 'latest']))

export const dataOf = (job: Job, change: 'grantRole' | 'revokeRole', account: Address): Hex =>
  encodeFunctionData({ abi: ROLES_ABI, functionName: change, args: [roleOf(job).id, account] })

/** Sends it with the admin's key, and waits until it is mined. */
export async function sendAsAdmin(key: Secret<Hex>, { chain, address }: Post, data: Hex): Promise<void> {
  const [url] = chain.rpcUrls
  const client = createWalletClient({
    account: privateKeyToAccount(key.reveal()),
    chain: defineChain({
      id: chain.chainId,
      name: `chain ${chain.chainId}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: http(url?.reveal()),
  }).extend(publicActions)
  try {
    const hash = await client.sendTransaction({ to: address, data })
    const { status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`transaction ${hash} reverted`)
  } catch (error) {
    const { shortMessage, message } = error as { shortMessage?: string; message: string }
    throw new CommandFailed(
      `chain ${chain.chainId}: the admin's transaction failed (${shortMessage ?? message}); is ADMIN_PRIVATE_KEY that of the contract's admin, with gas?`,
    )
  }
}
