// Actions of merchants before and after they list products.
import { openMerchant } from '@referrer/contracts/local'
import type { Hex, LocalAccount } from 'viem'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import type { TestMarket } from './market.ts'

interface Acts {
  setActive: [merchantId: bigint, active: boolean]
  setPayoutWallet: [merchantId: bigint, wallet: Hex]
  setProductActive: [merchantId: bigint, productId: Hex, active: boolean]
  /** Called by a guardian. */
  setSuspended: [merchantId: bigint, suspended: boolean]
}

/** Calls the merchant registry. */
export async function act<N extends keyof Acts>(
  m: TestMarket,
  account: LocalAccount,
  functionName: N,
  ...args: Acts[N]
): Promise<void> {
  await send(m, call(m, account, 'MerchantRegistry', functionName, args))
}

export const register = (m: TestMarket, as: LocalAccount, merchantId: bigint | number) =>
  m.call('POST', '/v1/merchant/register', { as, body: { merchant_id: Number(merchantId) } })

/** Opens a merchant on the default chain and registers it with the service. */
export async function openRecorded(
  m: TestMarket,
  account: LocalAccount = m.market.accounts.merchant,
): Promise<bigint> {
  const merchantId = await openMerchant(m.market, account)
  await must(register(m, account, merchantId))
  return merchantId
}

export const unauthorized = { status: 401, body: { error: 'unauthorized' } }
