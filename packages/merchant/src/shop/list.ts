import { productIdOf } from '@referrer/client/chain'
import { Money, ProductId } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import type { Hash, Hex } from 'viem'
import { requireGas, type Shop } from './connect.ts'
import { showPercent, slugOf } from './input.ts'
import { findProduct } from './project.ts'
import { ShopError } from './report.ts'
import { send, settle } from './send.ts'

export interface ListOptions {
  /** A new product's name, or the one of a product of the project file. */
  name?: string | undefined
  /** Instead of the id that the name gives. */
  productId?: Hex | undefined
  /** The lowest price of a sale, in base units. */
  price?: bigint | undefined
  commissionBps?: number | undefined
  isOneOff?: boolean | undefined
}

export interface Listed {
  merchantId: number
  slug: string
  productId: Hex
  name: string
  commissionBps: number
  /** USDC as decimal text. */
  price: string
  type: 'repeat' | 'one-off'
}

const TYPES = ['repeat', 'one-off'] as const

export function merchantOf({ project }: Pick<Shop, 'project'>): number {
  const { merchantId } = project.data
  if (merchantId === undefined)
    throw new ShopError('this folder has no shop yet: run referrer-merchant open first')
  return merchantId
}

/** Puts the product on the chain, or changes there what differs. */
export async function listProduct(shop: Shop, options: ListOptions): Promise<Listed> {
  const { client, deployment, project, reporter } = shop
  const merchantId = merchantOf(shop)
  const named = nameOf(shop, options)
  const args = [BigInt(merchantId), named.id] as const
  await requireGas(shop)
  await settle(shop)
  const was = await client.readContract({
    address: deployment.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'getProduct',
    args,
  })
  const wanted = {
    commissionBps: options.commissionBps ?? was.commissionBps,
    minPrice: options.price ?? was.minPrice,
  }
  const type = was.listed ? was.productType : Number(options.isOneOff ?? false)
  requireTerms(shop, options, was, named.name)
  const terms = (of: typeof wanted) =>
    `${Money.format(of.minPrice)} USDC, commission ${showPercent(of.commissionBps)}`
  const step = (changed: boolean, text: string, transaction?: Hash) =>
    reporter.step({ name: 'product', changed, text, ...(transaction && { transaction }) })
  if (!was.listed) {
    const transaction = await send(shop, 'listProduct', [
      ...args,
      wanted.commissionBps,
      wanted.minPrice,
      type,
      '',
    ])
    step(true, `listed "${named.name}": ${terms(wanted)}, ${TYPES[type]}`, transaction)
  } else if (was.commissionBps !== wanted.commissionBps || was.minPrice !== wanted.minPrice) {
    const transaction = await send(shop, 'setProductTerms', [...args, wanted.commissionBps, wanted.minPrice])
    step(true, `changed "${named.name}": ${terms(wanted)}; before: ${terms(was)}`, transaction)
  } else {
    step(false, `"${named.name}" is listed: ${terms(was)}, ${TYPES[type]}`)
  }
  if (was.listed && !was.active) {
    const transaction = await send(shop, 'setProductActive', [...args, true])
    step(true, `opened "${named.name}" again`, transaction)
  }
  const { slug, id, name } = named
  project.save({
    products: { ...project.data.products, [slug]: { ...project.data.products?.[slug], id, name } },
  })
  return {
    merchantId,
    slug,
    productId: id,
    name,
    commissionBps: wanted.commissionBps,
    price: Money.format(wanted.minPrice),
    type: TYPES[type] ?? 'repeat',
  }
}

function nameOf(shop: Shop, { name, productId }: ListOptions): { slug: string; id: Hex; name: string } {
  if (name === undefined) return findProduct(shop.project, productId)
  const slug = slugOf(name)
  const { products = {} } = shop.project.data
  const known = Object.hasOwn(products, slug) ? products[slug] : undefined
  const isSame = [slug, known?.name.toLowerCase()].includes(name.toLowerCase())
  if (known?.name && !isSame) {
    throw new ShopError(
      `"${name}" and "${known.name}" would be one product, ${slug}: choose another name, or say --name ${slug} to change it`,
    )
  }
  const id = productId ? ProductId.parse(productId) : (known?.id ?? productIdOf(slug))
  return { slug, id, name: known?.name ?? name }
}

interface OnChain {
  listed: boolean
  productType: number
}

/** A market settles nothing below its least amount. */
export function requireSettled({ deployment: { leastAmount } }: Shop, price: bigint): void {
  if (price >= leastAmount) return
  throw new ShopError(
    `the price ${Money.format(price)} is below the least amount ${Money.format(leastAmount)} that this market settles: raise it`,
  )
}

function requireTerms(
  shop: Shop,
  { price, commissionBps, isOneOff }: ListOptions,
  was: OnChain,
  name: string,
): void {
  if (price !== undefined) requireSettled(shop, price)
  if (!was.listed && (price === undefined || commissionBps === undefined)) {
    throw new ShopError(`"${name}" is not listed yet: say --price <USDC> and --commission <percent>`)
  }
  if (was.listed && isOneOff !== undefined && was.productType !== Number(isOneOff)) {
    throw new ShopError(
      `"${name}" is listed as ${TYPES[was.productType]}, and that cannot be changed: list it under another name`,
    )
  }
}
