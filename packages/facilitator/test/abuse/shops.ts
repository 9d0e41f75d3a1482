// Shops in processes of their own, and what they have handed out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundled } from '@referrer/database/testing'
import type { Address } from 'viem'
import { PRICE, type TestFacilitator } from '../harness.ts'

/** In the environment variable SHOP. */
export interface ShopSettings {
  databaseUrl: string
  chainId: number
  rpcUrl: string
  addressRegistry: Address
  facilitatorUrl: string
  setupUrl: string
  merchantId: string
  price: string
}

export interface Shop {
  url: string
  kill(): Promise<void>
}

const PROGRAM = new URL('shop-program.ts', import.meta.url)

export const shopSettings = (m: TestFacilitator): ShopSettings => ({
  databaseUrl: m.env.DATABASE_URL ?? '',
  chainId: m.chainId,
  rpcUrl: m.chain.rpcUrl ?? '',
  addressRegistry: m.market.addresses.AddressRegistry,
  facilitatorUrl: m.facilitator.url,
  setupUrl: m.env.SETUP_URL ?? '',
  merchantId: String(m.merchant.merchantId),
  price: String(PRICE),
})

/** What the shops share. */
export async function openShopBooks({ sql }: TestFacilitator): Promise<void> {
  await sql`CREATE SCHEMA shop`
  await sql`CREATE TABLE shop.payments (key text PRIMARY KEY, record text NOT NULL, ends timestamptz NOT NULL)`
  await sql`CREATE TABLE shop.served (sale text NOT NULL, payer text NOT NULL, transaction text NOT NULL)`
}

/** How often a payer was served. */
export async function servedTo({ sql }: TestFacilitator, payer: Address): Promise<number> {
  return (await sql`SELECT FROM shop.served WHERE payer = ${payer.toLowerCase()}`).length
}

export async function startShop(m: TestFacilitator): Promise<Shop> {
  const child = spawn(process.execPath, [await bundled(PROGRAM)], {
    env: { ...process.env, SHOP: JSON.stringify(shopSettings(m)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const dead = once(child, 'close')
  const ready = once(createInterface(child.stdout), 'line') as Promise<[string]>
  const [url] = await Promise.race([
    ready,
    dead.then(([code]) => Promise.reject(new Error(`the shop ended with ${code}`))),
  ])
  return {
    url,
    async kill() {
      child.kill('SIGKILL')
      await dead
    },
  }
}
