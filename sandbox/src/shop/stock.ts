import { confirmed, listProduct, type Market } from '@referrer/contracts/local'
import { Money } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, keccak256, stringToHex } from 'viem'
import { GOODS } from './goods.ts'

const SETTLEMENT_SIGNER_ROLE = keccak256(stringToHex('SETTLEMENT_SIGNER_ROLE'))

/** Lists what the shop sells on the chain, and lets its server ask for payments without holding the owner's key. */
export async function stockShop(
  market: Market,
  merchantId: bigint,
  settlementSigner: Address,
): Promise<void> {
  const { client, accounts, addresses } = market
  for (const { productId, commissionBps, price, oneOff } of GOODS) {
    const minPrice = Money.parse(price)
    await listProduct(
      market,
      accounts.merchant,
      { merchantId, productId },
      { commissionBps, minPrice, oneOff },
    )
  }
  const hash = await client.writeContract({
    account: accounts.merchant,
    address: addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'grantRole',
    args: [merchantId, SETTLEMENT_SIGNER_ROLE, settlementSigner],
  })
  await confirmed(market, hash)
}
