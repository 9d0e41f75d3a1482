import { confirmed, listProduct, type Market } from '@referrer/contracts/local'
import { Money } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, keccak256, type LocalAccount, stringToHex } from 'viem'
import type { Good } from './good.ts'

const SETTLEMENT_SIGNER_ROLE = keccak256(stringToHex('SETTLEMENT_SIGNER_ROLE'))

/** Lists what a shop sells on the chain, and lets its server ask for payments without holding the owner's key. */
export async function stockShop(
  market: Market,
  owner: LocalAccount,
  { merchantId, goods, signer }: { merchantId: bigint; goods: readonly Good[]; signer: Address },
): Promise<void> {
  for (const { productId, commissionBps, price, oneOff } of goods) {
    const terms = { commissionBps, minPrice: Money.parse(price), oneOff }
    await listProduct(market, owner, { merchantId, productId }, terms)
  }
  const hash = await market.client.writeContract({
    account: owner,
    address: market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'grantRole',
    args: [merchantId, SETTLEMENT_SIGNER_ROLE, signer],
  })
  await confirmed(market, hash)
}
