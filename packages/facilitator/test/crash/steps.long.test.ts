import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { act, send, submission } from '../abuse/acts.ts'
import type { Allowed } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import type { Deadly } from './process.ts'
import {
  committed,
  expectNothingOpen,
  expectOnce,
  type Purchase,
  type Stand,
  startWorld,
  successOf,
  usedIn,
  type World,
  whileMining,
} from './world.ts'

let world: World

beforeAll(async () => {
  // Two requests share a transaction however busy the machine is: one alone waits for another, and two are a full batch.
  const env = { LINGER_MS: '1500', MAX_BATCH: '2' }
  world = await startWorld({ chainId: 31_471, buyers: 24, env })
})
afterAll(() => world?.close())

const NOTHING: Stand = { row: 'open', intent: 'none', stored: 0, known: 0, mined: 0 }
const WRITTEN: Stand = { row: 'pending', intent: 'enqueued', stored: 0, known: 0, mined: 0 }
const STORED: Stand = { row: 'pending', intent: 'sent', stored: 1, known: 0, mined: 0 }
const POOLED: Stand = { ...STORED, known: 1 }
const MINED: Stand = { ...POOLED, mined: 1 }
const RECORDED: Stand = { ...MINED, row: 'settled' }

interface Death {
  when: string
  step: Deadly
  /** How far the payments were by then. */
  stand: Stand
  /** A block is mined before the next process starts. */
  minesWhileDead?: boolean
  /** Nobody asks the next process for anything until it has settled what was left. */
  isLeftAlone?: boolean
}

const DEATHS: Death[] = [
  { when: 'after the trial', step: 'tried', stand: NOTHING },
  { when: 'after the rows are written', step: 'sending', stand: WRITTEN, isLeftAlone: true },
  { when: 'after signing', step: 'signed', stand: WRITTEN },
  { when: 'after storing what it signed', step: 'stored', stand: STORED, isLeftAlone: true },
  { when: 'after the broadcast', step: 'broadcast', stand: POOLED },
  { when: 'before a block that it does not see', step: 'broadcast', stand: POOLED, minesWhileDead: true },
  { when: 'after mining, before recording', step: 'mined', stand: MINED, isLeftAlone: true },
  { when: 'after recording, before answering', step: 'ended', stand: RECORDED },
]

/** The facilitator that runs dies of these payments, at that step and with nobody answered. */
async function killWith({ step, stand, minesWhileDead }: Death, purchases: Purchase[]): Promise<void> {
  const { market, facilitator: victim } = world
  const { client } = market.chain
  await client.setAutomine(false)
  await victim.dieAt(step)
  const asked = purchases.map(({ body }) => victim.settle(body).catch(() => 'no answer'))
  await (stand.mined > 0 ? whileMining(market, victim.dead) : victim.dead)
  expect(await Promise.all(asked)).toEqual(purchases.map(() => 'no answer'))
  // Whether the sender had time to confirm what was mined does not matter.
  const intent = stand.mined > 0 ? expect.any(String) : stand.intent
  for (const purchase of purchases) {
    // What commits to its terms needs no pin.
    const isPinned = purchase.body.paymentPayload.extensions.attributionSalt === undefined
    const row = stand === NOTHING && !isPinned ? 'none' : stand.row
    expect(await world.stand(purchase)).toEqual({ ...stand, row, intent })
  }
  if (minesWhileDead) await client.mine({ blocks: 1 })
}

/** Before anything else is asked of the next process. */
async function expectTruth({ row }: Stand, purchase: Purchase): Promise<void> {
  const { status, transaction } = await world.settlement(purchase)
  if (row === 'open') expect({ status, transaction }).toEqual({ status: 'unknown', transaction: null })
  else if (row === 'settled') expect(status).toBe('settled')
  else expect(['pending', 'settled']).toContain(status)
}

const settled = (purchase: Purchase) =>
  eventually(async () => (await world.settlement(purchase)).status).toBe('settled')

async function expectInOrder(allowed: Allowed = {}): Promise<void> {
  const { client } = world.market.chain
  await client.setAutomine(true)
  await client.mine({ blocks: 1 })
  await expectNothingOpen(world.market)
  await world.books.audit(allowed)
}

describe('a facilitator that is killed', () => {
  it.each(DEATHS)('$when settles what it had begun, once, when it is back', async (death) => {
    const { market } = world
    const left = await world.buy()
    const repeated = await world.buy(committed())
    await killWith(death, [left, repeated])

    const heir = await world.start()
    await expectTruth(death.stand, left)
    if (death.isLeftAlone) await whileMining(market, settled(left))
    const again = await whileMining(market, heir.settle(repeated.body))
    expectOnce(again, repeated, (await world.settlement(repeated)).transaction)

    // What nobody asks for again is settled all the same, if it had been written down; else nothing of it is ever sent.
    const isKnown = death.stand !== NOTHING
    if (isKnown) await settled(left)
    else expect((await world.settlement(left)).status).toBe('unknown')
    const { transaction } = await world.settlement(left)
    const copy = await whileMining(market, heir.settle(left.body))
    if (isKnown) expect(copy.body).toMatchObject(usedIn(transaction))
    else expect(copy.body).toEqual(successOf(left))
    await expectInOrder()
  })

  it.each([
    { when: 'after signing', step: 'signed', stand: WRITTEN },
    { when: 'before a block that it does not see', step: 'broadcast', stand: POOLED, minesWhileDead: true },
    { when: 'after recording', step: 'ended', stand: RECORDED },
  ] as Death[])('$when finishes, once, what somebody else had submitted', async (death) => {
    const purchase = await world.buy()
    await act(world.market, submission(world.market, purchase.body))
    await killWith(death, [purchase])

    const heir = await world.start()
    await expectTruth(death.stand, purchase)
    const again = await whileMining(world.market, heir.settle(purchase.body))
    expectOnce(again, purchase, (await world.settlement(purchase)).transaction)
    await expectInOrder()
  })

  it('before a stranger submits the transfer finishes what is in the router, though its own transaction was in vain', async () => {
    const { market } = world
    const purchase = await world.buy()
    await killWith({ when: '', step: 'stored', stand: STORED }, [purchase])
    await send(market, submission(market, purchase.body))
    await market.chain.client.mine({ blocks: 1 })

    const heir = await world.start()
    const asked = heir.settle(purchase.body)
    // Time to find out that the payment is under way, before it fails.
    await sleep(2_000)
    const again = await whileMining(market, asked)
    const { transaction } = await world.settlement(purchase)
    expect(again.body).toEqual(successOf(purchase, transaction))
    await expectInOrder({ reverted: 1 })
  })
})
