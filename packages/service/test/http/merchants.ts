// What merchants do before and after they list products.
import { confirmed, type Market, openMerchant } from '@referrer/contracts/local'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import type { Hex, LocalAccount } from 'viem'
import type { TestMarket } from './market.ts'

interface Acts {
  setActive: [merchantId: bigint, active: boolean]
  setPayoutWallet: [merchantId: bigint, wallet: Hex]
  setProductActive: [merchantId: bigint, productId: Hex, active: boolean]
  /** A guardian's. */
  setSuspended: [merchantId: bigint, suspended: boolean]
}

/** Calls the merchant registry. */
export async function act<N extends keyof Acts>(
  market: Market,
  account: LocalAccount,
  functionName: N,
  ...args: Acts[N]
): Promise<void> {
  const call = { account, address: market.addresses.MerchantRegistry, abi: merchantRegistryAbi, functionName }
  await confirmed(market, await market.client.writeContract({ ...call, args } as never))
}

export const register = ({ call }: Pick<TestMarket, 'call'>, as: LocalAccount, merchantId: bigint | number) =>
  call('POST', '/v1/merchant/register', { as, body: { merchant_id: Number(merchantId) } })

/** Opens a merchant on the default chain and makes it known to the service. */
export async function openRecorded(
  m: TestMarket,
  account: LocalAccount = m.market.accounts.merchant,
): Promise<bigint> {
  const merchantId = await openMerchant(m.market, account)
  const { status, text } = await register(m, account, merchantId)
  if (status !== 201) throw new Error(`the merchant was not registered: ${status} ${text}`)
  return merchantId
}

export const unauthorized = { status: 401, body: { error: 'unauthorized' } }
