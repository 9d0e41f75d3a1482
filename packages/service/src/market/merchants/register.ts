import { readContract } from '@referrer/chain'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { whole } from '../../kit/json-values.ts'
import { MarketError, unavailable } from '../../kit/market-error.ts'
import { identityUri, ownerOf, reread } from '../../kit/onchain.ts'
import { queueReading } from '../registrations/store.ts'
import { notOwner } from './refusals.ts'
import type { Registered } from './shapes.ts'
import { isRecorded, recordMerchant } from './store.ts'

const alreadyRegistered = () => new MarketError('already exists', 'merchant already registered')

/** Registers a merchant that the caller owns and has opened. The chain read is retried, because a node may not have the opening yet. */
export async function registerMerchant(
  context: Context,
  chain: Chain,
  caller: Address,
  merchantId: bigint,
): Promise<z.output<typeof Registered>> {
  const { sql } = context
  const { chainId } = chain.config
  const wasRecorded = await isRecorded(sql, chainId, merchantId)
  const { owner, isActive } = await reread(
    context,
    () => readMerchant(chain, merchantId),
    (seen) => !!seen.owner && (seen.isActive || wasRecorded || !isAddressEqual(seen.owner, caller)),
  )
  if (!owner) throw new MarketError('not found', 'merchant not found on-chain')
  if (!isAddressEqual(owner, caller)) throw notOwner()
  if (wasRecorded) throw alreadyRegistered()
  if (!isActive) throw new MarketError('conflict', 'merchant is not active on-chain')
  const uri = (await identityUri(chain, merchantId)) ?? null
  await sql.begin(async (tx) => {
    if (!(await recordMerchant(tx, chainId, merchantId, uri))) throw alreadyRegistered()
    await queueReading(tx, chainId, merchantId)
  })
  return { merchant_id: whole(merchantId), owner_address: owner }
}

async function readMerchant(chain: Chain, merchantId: bigint) {
  try {
    const [owner, isActive] = await Promise.all([
      ownerOf(chain, merchantId),
      readContract(chain, {
        address: chain.config.contracts.MerchantRegistry,
        abi: merchantRegistryAbi,
        functionName: 'isActive',
        args: [merchantId],
      }),
    ])
    return { owner, isActive }
  } catch (error) {
    throw unavailable(`merchant ${merchantId}: resolve owner on-chain`, error)
  }
}
