// A facilitator that dies while it deploys the wallet of a payer.
import { mintUsdc } from '@referrer/contracts/local'
import {
  deploySafeContracts,
  foreseeSafe,
  type SafeContracts,
  safeFactory,
} from '@referrer/contracts/local/wallets'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PRICE } from '../harness.ts'
import type { Deadly } from './process.ts'
import { expectNothingOpen, startWorld, type World, whileMining } from './world.ts'

let world: World
let safes: SafeContracts

beforeAll(async () => {
  world = await startWorld({ chainId: 31_479, env: { WALLET_FACTORIES: safeFactory() } })
  safes = await deploySafeContracts(world.market.market)
})
afterAll(() => world?.close())

const DEATHS: Deadly[] = ['signed', 'stored', 'broadcast', 'mined']

it.each(DEATHS)(
  'one that dies when its deployment is %s settles the payment when it comes again',
  async (step) => {
    const { market, facilitator: victim } = world
    const { client } = market.chain
    const wallet = foreseeSafe(market.market, safes)
    // Its fee pays for a deployment and for the first purchase of all, which takes more gas than those after it.
    const amount = 2n * PRICE
    await mintUsdc(market.market, wallet.address, amount)
    const body = await market.payload(wallet, { amount })
    await client.setAutomine(false)
    await victim.dieAt(step)
    const asked = victim.settle(body).catch(() => 'no answer')
    await (step === 'mined' ? whileMining(market, victim.dead) : victim.dead)
    expect(await asked).toBe('no answer')
    expect(await wallet.isDeployed()).toBe(step === 'mined')

    const heir = await world.start()
    const again = await whileMining(market, heir.settle(body))
    expect(again.body).toMatchObject({ success: true, payer: wallet.address })
    expect(
      await market.sql`SELECT FROM sender.intents WHERE key = ${`wallet ${wallet.address.toLowerCase()}`}`,
    ).toHaveLength(1)
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    await expectNothingOpen(market)
    await world.books.audit()
  },
)
