import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { requireGas, type Shop } from './connect.ts'
import { merchantOf } from './list.ts'
import { findProduct } from './project.ts'
import { send, settle } from './send.ts'

/** Nobody can buy the product until it is listed again. */
export async function closeProduct(shop: Shop, given: string | undefined): Promise<void> {
  const { client, deployment, project, reporter } = shop
  const { id, name } = findProduct(project, given)
  const args = [BigInt(merchantOf(shop)), id] as const
  await requireGas(shop)
  await settle(shop)
  const { active } = await client.readContract({
    address: deployment.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'getProduct',
    args,
  })
  const transaction = active ? await send(shop, 'setProductActive', [...args, false]) : undefined
  const text = active
    ? `closed "${name || id}": its links stop resolving`
    : `"${name || id}" is not open for sale`
  reporter.step({ name: 'product', changed: active, text, ...(transaction && { transaction }) })
}

/** Nobody can buy anything until the shop is opened again. */
export async function closeShop(shop: Shop): Promise<void> {
  const { client, deployment, reporter } = shop
  const merchantId = merchantOf(shop)
  await requireGas(shop)
  await settle(shop)
  const isActive = await client.readContract({
    address: deployment.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'isActive',
    args: [BigInt(merchantId)],
  })
  const transaction = isActive ? await send(shop, 'setActive', [BigInt(merchantId), false]) : undefined
  const text = isActive
    ? `closed merchant ${merchantId}: all its links stop resolving`
    : `merchant ${merchantId} is not open for sale`
  reporter.step({ name: 'active', changed: isActive, text, ...(transaction && { transaction }) })
}
