import { developmentAccount, openMerchant } from '@referrer/contracts/local'
import { SHOPS } from '../shop/shops.ts'
import { stockShop } from '../shop/stock.ts'
import { MERCHANTS, signerOf } from './cast.ts'
import type { Game } from './game.ts'

/** On the chain. */
export async function openShops({ market, plan, merchantIds }: Game): Promise<void> {
  for (const [at, { goods }] of SHOPS.slice(0, plan.shops).entries()) {
    const owner = developmentAccount(MERCHANTS[at] ?? -1)
    const merchantId = BigInt(merchantIds[at] ?? (await openMerchant(market, owner)))
    merchantIds[at] = Number(merchantId)
    await stockShop(market, owner, { merchantId, goods, signer: signerOf(at).address })
  }
}

/** At the service, which shows what they say of themselves. */
export async function introduceShops({ sandbox, caller, plan, merchantIds }: Game): Promise<void> {
  const { shopUrl } = sandbox.state
  for (const [at, { path, description, goods }] of SHOPS.slice(0, plan.shops).entries()) {
    const owner = developmentAccount(MERCHANTS[at] ?? -1)
    const merchant = { merchant_id: merchantIds[at] }
    await caller.post(owner, '/v1/merchant/register', merchant)
    const landing_page_url = path === '/' ? shopUrl : `${shopUrl}${path}`
    await caller.post(owner, '/v1/merchant/profile', { ...merchant, description, landing_page_url })
    for (const { path, productId, name, description, category } of goods) {
      const about = { product_id: productId, endpoint_url: `${shopUrl}${path}`, name, description, category }
      await caller.post(owner, '/v1/merchant/product', { ...merchant, ...about })
    }
  }
}
