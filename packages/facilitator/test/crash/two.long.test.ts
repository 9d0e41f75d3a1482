import { setTimeout as sleep } from 'node:timers/promises'
import { isServed } from '@referrer/chain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { FacilitatorProcess } from './process.ts'
import {
  committed,
  expectNothingOpen,
  expectOnce,
  type Purchase,
  startWorld,
  successOf,
  type World,
  whileMining,
} from './world.ts'

const LINGER_MS = 400

let world: World

beforeAll(async () => {
  world = await startWorld({
    chainId: 31_477,
    buyers: 60,
    relayers: 2,
    env: { LINGER_MS: String(LINGER_MS) },
  })
})
afterAll(() => world?.close())

/** The first one sends for all; the other takes over when it is gone. */
async function startSecond(): Promise<{ leader: FacilitatorProcess; heir: FacilitatorProcess }> {
  const leader = world.facilitator
  // It takes over from one that was killed a moment later: another that is there by then could be quicker.
  const { sql, chainId, relayers } = world.market
  await eventually(() => Promise.all(relayers.map(({ address }) => isServed(sql, chainId, address)))).toEqual(
    relayers.map(() => true),
  )
  return { leader, heir: await world.start() }
}

const pooled = (count: number) =>
  eventually(async () => {
    const { transactions } = await world.market.chain.client.getBlock({ blockTag: 'pending' })
    return transactions.length
  }).toBe(count)

const paths = async (purchases: Purchase[]) =>
  Promise.all(purchases.map(async (purchase) => (await world.settlement(purchase)).status))

describe('two facilitators on one database', () => {
  it('settle what one of them had sent when it was killed, without being asked again', async () => {
    const { market } = world
    const { client } = market.chain
    const { leader, heir } = await startSecond()
    await client.setAutomine(false)
    const purchase = await world.buy()
    const asked = leader.settle(purchase.body).catch(() => 'no answer')
    await pooled(1)
    await leader.kill()
    expect(await asked).toBe('no answer')
    expect(await world.settlement(purchase)).toMatchObject({ status: 'pending' })
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    await eventually(async () => (await world.settlement(purchase)).status).toBe('settled')
    const { transaction } = await world.settlement(purchase)
    expectOnce(await heir.settle(purchase.body), purchase, transaction)
    await expectNothingOpen(market)
    await world.books.audit()
  })

  it("settle a payment alone that was tried out with another which is the other facilitator's", async () => {
    const { market } = world
    const { client } = market.chain
    const { leader, heir } = await startSecond()
    await client.setAutomine(false)
    const [theirs, ours] = [await world.buy(), await world.buy()]
    const asked = [leader.settle(theirs.body)]
    await pooled(1)
    // The first of a trial pays for what all of them touch.
    asked.push(heir.settle(theirs.body))
    await sleep(LINGER_MS / 4)
    asked.push(heir.settle(ours.body))
    await pooled(2)
    const answers = await whileMining(market, Promise.all(asked))
    for (const [at, { body }] of answers.entries())
      expect(body).toEqual(successOf(at < 2 ? theirs : ours, expect.any(String)))
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    await client.setAutomine(true)
    await leader.kill()
    await expectNothingOpen(market)
    await world.books.audit()
  })

  it('settle every payment once while one of them is killed and payments arrive at both [FAC-42 otherwise]', async () => {
    const { market } = world
    const { leader, heir } = await startSecond()
    const purchases: Purchase[] = []
    const answers: Promise<unknown>[] = []
    for (let at = 0; at < 24; at += 1) {
      const purchase = await world.buy(at % 2 ? committed() : {})
      purchases.push(purchase)
      // To one, to the other, or to both at once.
      for (const each of [[leader], [heir], [leader, heir]][at % 3] ?? [])
        answers.push(each.settle(purchase.body).catch(() => 'no answer'))
      if (at === 11) await leader.dieAt('broadcast')
    }
    await leader.dead
    await Promise.all(answers)
    for (const purchase of purchases) {
      const answer = await heir.settle(purchase.body)
      expectOnce(answer, purchase, (await world.settlement(purchase)).transaction)
    }
    expect(new Set(await paths(purchases))).toEqual(new Set(['settled']))
    await expectNothingOpen(market)
    await world.books.audit()
  })

  it('hand the sending over when a leader that has sent nothing yet is killed', async () => {
    const { market } = world
    const { leader, heir } = await startSecond()
    await leader.dieAt('signed')
    const purchase = await world.buy()
    const asked = heir.settle(purchase.body)
    await leader.dead
    const answer = await whileMining(market, asked)
    expectOnce(answer, purchase, (await world.settlement(purchase)).transaction)
    expect(answer.body.success).toBe(true)
    await expectNothingOpen(market)
    await world.books.audit()
  })
})
