// What the chain says about a shop, read through the wallet.
import { refusalOf } from '@referrer/client/chain'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Hex } from 'viem'
import { withProblems } from '../../../wallet/problem.ts'
import type { OnChain } from './with-chain.tsx'

const KEY = 'shop on the chain'

const registryOf = ({ deployment }: OnChain) =>
  ({ address: deployment.contracts.MerchantRegistry, abi: merchantRegistryAbi }) as const

/** The owner is undefined when there is no such identity. */
export const merchantOnChain = (onChain: OnChain, merchantId: number) =>
  queryOptions({
    queryKey: [KEY, onChain.connected.chainId, 'merchant', merchantId],
    queryFn: () => withProblems(readMerchant(onChain, merchantId)),
  })

async function readMerchant(onChain: OnChain, merchantId: number) {
  const { reads } = onChain.connected
  const registry = registryOf(onChain)
  const args = [BigInt(merchantId)] as const
  const identities = onChain.deployment.contracts.IdentityRegistry
  const [owner, isActive, isSuspended, payout] = await Promise.all([
    reads
      .readContract({ address: identities, abi: identityRegistryAbi, functionName: 'ownerOf', args })
      .catch((error: unknown) => {
        if (refusalOf(error) === undefined) throw error
        return undefined
      }),
    reads.readContract({ ...registry, functionName: 'isActive', args }),
    reads.readContract({ ...registry, functionName: 'isSuspended', args }),
    reads.readContract({ ...registry, functionName: 'payoutWallet', args }),
  ])
  return { owner, isActive, isSuspended, payout }
}

export const productOnChain = (onChain: OnChain, merchantId: number, productId: Hex) =>
  queryOptions({
    queryKey: [KEY, onChain.connected.chainId, 'product', merchantId, productId],
    queryFn: () =>
      withProblems(
        onChain.connected.reads.readContract({
          ...registryOf(onChain),
          functionName: 'getProduct',
          args: [BigInt(merchantId), productId],
        }),
      ),
  })

/** Asks the chain and the market again; not who is signed in, and with which wallet. */
export const refresh = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({
    predicate: ({ queryKey: [first] }) => first === KEY || String(first).startsWith('/v1/'),
  })

/** The market reads a block some moments after it is made. */
const MARKET_SEES_AFTER_MS = [1_500, 5_000, 15_000, 30_000]

/** After a transaction: the chain is asked again at once, the market until it has seen the block. */
export function refreshAfter(queries: QueryClient): void {
  refresh(queries)
  for (const ms of MARKET_SEES_AFTER_MS) setTimeout(() => refresh(queries), ms)
}
