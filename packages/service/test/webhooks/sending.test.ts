import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countMessages } from '../../src/derived/webhooks/figures.ts'
import { claim, LEASE_MS, sendTo } from '../../src/derived/webhooks/send.ts'
import { webhooksWorker } from '../../src/derived/webhooks/worker.ts'
import { runAlone, until } from '../../src/machinery/workers/testing.ts'
import { dropTexts, MOST_WAITING, sweepDeliveries } from '../../src/market/webhooks/deliveries.ts'
import { post } from '../../src/market/webhooks/post.ts'
import { sweepWebhooks } from '../../src/market/webhooks/store.ts'
import { must, naming } from '../http/caller.ts'
import { buyThrough, type Person } from '../http/town.ts'
import { mineBlocks, startReplica } from '../oracle/world.ts'
import { verified } from './receiver.ts'
import {
  announceAll,
  CONFIRMATIONS,
  deliver,
  deliveriesOf,
  type Hook,
  newHook,
  newPerson,
  sendAll,
  shownOf,
  startWorld,
  typesOf,
  type World,
} from './world.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  world.m.clock.aheadMs = 0
  await world.m.sql`DELETE FROM market.webhooks`
})

const later = (ms: number) => {
  world.m.clock.aheadMs += ms
}
const failing = { status: 500 }

/** A buyer with a webhook for purchases. */
async function newBuyer(): Promise<Person & { hook: Hook }> {
  const buyer = await newPerson(world)
  return { ...buyer, hook: await newHook(world, buyer.owner, { events: ['purchase.settled'] }) }
}

/** Makes messages about so many purchases, and sends none. */
async function bought(buyer: Person, count = 1): Promise<void> {
  for (let made = 0; made < count; made += 1) await buyThrough(world.m, buyer, world.link)
  await mineBlocks(world.m, CONFIRMATIONS)
  await announceAll(world)
}

const idsAt = ({ path }: Hook) => world.receiver.at(path).map(({ id }) => id)

describe('a message that fails', () => {
  it('is tried again by the schedule of Standard Webhooks with the same id, ten times in all, and then given up', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    world.receiver.answer(hook.path, ...Array.from({ length: 20 }, () => failing))
    await bought(buyer)
    const delays = [
      5 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      DAY,
    ]
    for (const [at, delay] of delays.entries()) {
      await sendAll(world)
      expect(idsAt(hook)).toHaveLength(at + 1)
      const [{ status, attempts, last_status, next_attempt_at, last_attempt_at }] = await deliveriesOf(
        world,
        hook,
      )
      expect({ status, attempts, last_status }).toEqual({
        status: 'pending',
        attempts: at + 1,
        last_status: 500,
      })
      const waits = Date.parse(next_attempt_at) - Date.parse(last_attempt_at)
      expect(waits).toBeGreaterThanOrEqual(delay)
      expect(waits).toBeLessThanOrEqual(1.1 * delay)
      // Nothing comes before its time.
      later(0.9 * delay)
      if (delay > 5 * MINUTE) await sendAll(world)
      expect(idsAt(hook)).toHaveLength(at + 1)
      // The pause of the endpoint is at most 5 minutes.
      later(0.3 * delay + 5 * MINUTE)
    }
    await sendAll(world)
    later(2 * DAY)
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(10)
    expect(new Set(idsAt(hook)).size).toBe(1)
    expect(await deliveriesOf(world, hook)).toMatchObject([
      { status: 'failed', attempts: 10, next_attempt_at: null, can_replay: true },
    ])
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: null })
  })

  it('waits as long as the endpoint asks, and so do the others, but a day at most', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    const busy = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })
    world.receiver.answer(hook.path, busy('7200'), busy('999999999'))
    await bought(buyer, 2)
    await sendAll(world)
    later(1.9 * HOUR)
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(1)
    later(0.2 * HOUR)
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(2)
    later(DAY - MINUTE)
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(2)
    later(2 * MINUTE)
    await sendAll(world)
    expect(new Set(idsAt(hook)).size).toBe(2)
    expect((await deliveriesOf(world, hook)).map(({ status }: { status: string }) => status)).toEqual([
      'delivered',
      'delivered',
    ])
  })

  it('shows its owner the status and 200 printable characters of the answer; a long answer counts by its status', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    const rude = `\u0000\u001b[31mno\u202e${'x'.repeat(300)}`
    world.receiver.answer(hook.path, { status: 400, body: rude }, { status: 200, body: 'y'.repeat(100_000) })
    await bought(buyer)
    await sendAll(world)
    const [{ last_answer }] = await deliveriesOf(world, hook)
    expect(last_answer).toMatch(/^\[31mno x+$/)
    expect(last_answer).toHaveLength(200)
    later(10 * SECOND)
    await sendAll(world)
    expect(await deliveriesOf(world, hook)).toMatchObject([
      { status: 'delivered', last_status: 200, last_answer: 'y'.repeat(200) },
    ])
  })

  it('because of a redirect is not sent there', async () => {
    const buyer = await newBuyer()
    const location = `${world.receiver.url}/elsewhere`
    world.receiver.answer(buyer.hook.path, { status: 302, headers: { location } })
    await bought(buyer)
    await sendAll(world)
    expect(world.receiver.at('/elsewhere')).toEqual([])
    expect(await deliveriesOf(world, buyer.hook)).toMatchObject([{ status: 'pending', last_status: 302 }])
  })

  it('because its host is not public reaches nobody', async () => {
    const buyer = await newBuyer()
    await bought(buyer)
    const guarded = { ...world.context, config: { ...world.context.config, allowPrivateHosts: false } }
    for (const claimed of await claim(guarded, 100)) await sendTo(guarded, claimed)
    expect(world.receiver.at(buyer.hook.path)).toEqual([])
    expect(await deliveriesOf(world, buyer.hook)).toMatchObject([
      { status: 'pending', last_status: null, last_answer: '127.0.0.1 is not public' },
    ])
  })
})

describe('a webhook', () => {
  it('gets its messages in the order of the events', async () => {
    const buyer = await newBuyer()
    await bought(buyer, 3)
    await sendAll(world)
    const ids = world.receiver
      .at(buyer.hook.path)
      .map((got) => verified(buyer.hook.secret, got).data.escrow_id)
    expect(ids).toHaveLength(3)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })

  it('that answers 410 is disabled at once, gets nothing more, and a test that succeeds enables it', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    world.receiver.answer(hook.path, { status: 410 })
    await bought(buyer, 2)
    await sendAll(world)
    expect(await shownOf(world, hook)).toMatchObject({
      disabled_at: expect.any(String),
      disabled_reason: 'the endpoint answered 410 Gone',
    })
    await bought(buyer)
    later(DAY)
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(1)
    const replay = { as: hook.owner, body: { since: '2020-01-01T00:00:00Z' } }
    expect((await world.m.call('POST', `/v1/webhooks/${hook.id}/replay`, replay)).status).toBe(409)
    const test = () =>
      world.m.call('POST', `/v1/webhooks/${hook.id}/test`, {
        as: hook.owner,
        body: naming('POST', `/v1/webhooks/${hook.id}/test`),
      })
    world.receiver.answer(hook.path, { status: 503, body: 'not yet' })
    expect((await test()).body).toEqual({ delivered: false, last_status: 503, last_answer: 'not yet' })
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: expect.any(String) })
    expect((await test()).body).toMatchObject({ delivered: true, last_status: 204 })
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: null, disabled_reason: null })
    await sendAll(world)
    expect(typesOf(world, hook)).toEqual([
      'purchase.settled',
      'webhook.test',
      'webhook.test',
      'purchase.settled',
    ])
  })

  it('is disabled when every attempt of 5 days failed, not before', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    world.receiver.answer(hook.path, ...Array.from({ length: 100 }, () => failing))
    await bought(buyer)
    await sendAll(world)
    later(4.9 * DAY)
    await bought(buyer)
    await sendAll(world)
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: null, failing_since: expect.any(String) })
    later(0.2 * DAY)
    await sendAll(world)
    expect(await shownOf(world, hook)).toMatchObject({
      disabled_reason: 'every attempt of the last 5 days failed',
    })
  })

  it('for which too many messages wait is disabled', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    await world.m.sql`
      INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at, next_at)
      SELECT ${hook.id}, 'msg_' || n, 'purchase.settled', '{}', now(), now() FROM generate_series(1, ${MOST_WAITING}) AS n`
    await bought(buyer)
    expect(await shownOf(world, hook)).toMatchObject({ disabled_reason: 'more than 10000 messages waited' })
    await sendAll(world)
    expect(idsAt(hook)).toEqual([])
  })

  it('that does not answer holds up nobody else, and gets one message at a time', async () => {
    const [slow, quick] = [await newBuyer(), await newBuyer()]
    const letGo = world.receiver.hold(slow.hook.path)
    await bought(slow, 2)
    // Not confirmed yet. What takes long is done before the slow one is asked, whose attempt ends after ten seconds.
    for (let made = 0; made < 2; made += 1) await buyThrough(world.m, quick, world.link)
    const worker = runAlone(webhooksWorker(world.context))
    try {
      await until(() => idsAt(slow.hook).length === 1, 'the first message to the slow one')
      await mineBlocks(world.m, CONFIRMATIONS)
      await until(() => idsAt(quick.hook).length === 2, 'the messages to the quick one')
      expect(idsAt(slow.hook)).toHaveLength(1)
      letGo()
      await until(() => idsAt(slow.hook).length === 2, 'the second message to the slow one')
    } finally {
      letGo()
      await worker.stop()
    }
  })

  it('is one of eight of its site that are sent to at once; the others wait their time and hold up nobody', async () => {
    const { m, context, receiver } = world
    const [owner, quick] = [await newPerson(world), await newBuyer()]
    const { id, path } = await newHook(world, owner.owner)
    const { port } = new URL(receiver.url)
    await m.sql`
      INSERT INTO market.webhooks (webhook_id, chain_id, owner, url, description, created_at, due_at)
      SELECT 'slow' || n, chain_id, owner, 'http://h' || n || '.' || (ARRAY['slow.test', 'SL%6fW.test'])[n % 2 + 1] || ${`:${port}${path}`},
        '', created_at, to_timestamp(n)
      FROM market.webhooks, generate_series(1, 60) AS n WHERE webhook_id = ${id}`
    await m.sql`
      INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at, next_at)
      SELECT webhook_id, 'msg_' || webhook_id, 'purchase.settled', '{}', created_at, created_at
      FROM market.webhooks WHERE webhook_id LIKE 'slow%'`
    const letGo = receiver.hold(path)
    await bought(quick)
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const worker = runAlone(webhooksWorker({ ...context, lookup }))
    try {
      await until(() => idsAt(quick.hook).length === 1, 'the message to the other site')
      await until(() => receiver.at(path).length > 0, 'messages to the slow site')
      expect(receiver.at(path).length).toBeLessThanOrEqual(8)
      letGo()
      await until(async () => {
        later(5 * SECOND)
        return new Set(receiver.at(path).map(({ id }) => id)).size === 60
      }, 'all messages to the slow site')
    } finally {
      letGo()
      await worker.stop()
    }
  })

  it('for which many messages wait is due behind those for which new ones do', async () => {
    const { m, context } = world
    const [busy, other] = [await newBuyer(), await newBuyer()]
    await m.sql`
      INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at, next_at)
      SELECT ${busy.hook.id}, 'msg_' || n, 'purchase.settled', '{}', now(), now() - INTERVAL '1 hour' FROM generate_series(1, 45) AS n`
    await m.sql`UPDATE market.webhooks SET due_at = now() - INTERVAL '1 hour' WHERE webhook_id = ${busy.hook.id}`
    await bought(other)
    const order: string[] = []
    for (let [next] = await claim(context, 1); next; [next] = await claim(context, 1)) {
      order.push(next.webhook_id)
      await sendTo(context, next)
    }
    expect(order).toEqual([busy, other, busy, busy].map(({ hook }) => hook.id))
  })

  it('gets each message once from several workers', async () => {
    const buyers = await Promise.all([1, 2, 3].map(() => newBuyer()))
    const workers = [1, 2, 3].map(() => runAlone(webhooksWorker(world.context)))
    try {
      for (const buyer of buyers) await bought(buyer, 2)
      await until(() => buyers.every(({ hook }) => idsAt(hook).length >= 2), 'all messages')
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()))
    }
    expect(buyers.map(({ hook }) => new Set(idsAt(hook)).size)).toEqual([2, 2, 2])
    expect(buyers.map(({ hook }) => idsAt(hook).length)).toEqual([2, 2, 2])
    expect((await world.m.sql`SELECT FROM market.webhooks WHERE lease_token IS NOT NULL`).count).toBe(0)
  })

  it('does not keep a worker from ending when nobody can wait any longer', async () => {
    const buyer = await newBuyer()
    const letGo = world.receiver.hold(buyer.hook.path)
    const worker = runAlone(webhooksWorker(world.context))
    await bought(buyer)
    await until(() => idsAt(buyer.hook).length === 1, 'the message')
    await worker.abort()
    // Nobody has waited for the answer, nor for the end of its time.
    expect(await deliveriesOf(world, buyer.hook)).toMatchObject([{ attempts: 0 }])
    letGo()
  })

  it('is served by a whole service', async () => {
    const buyer = await newBuyer()
    await buyThrough(world.m, buyer, world.link)
    const replica = await startReplica(world.m, {})
    try {
      await mineBlocks(world.m, CONFIRMATIONS)
      await until(() => idsAt(buyer.hook).length === 1, 'the message')
    } finally {
      expect(await replica.stop()).toEqual({ stuck: [] })
    }
  })
})

describe('a crash', () => {
  it('after a message was posted and before that was written: it is sent again with the same id, when the lease has ended', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    await bought(buyer)
    const [claimed] = await claim(world.context, 100)
    const [row] = await world.m.sql<{ delivery_id: string; body: string }[]>`
      SELECT delivery_id, body FROM market.webhook_deliveries WHERE webhook_id = ${hook.id}`
    if (!claimed || !row) throw new Error('nothing was claimed')
    await post(world.context, claimed, { id: row.delivery_id, body: row.body })
    await sendAll(world)
    expect(idsAt(hook)).toHaveLength(1)
    later(LEASE_MS + SECOND)
    await sendAll(world)
    expect(idsAt(hook)).toEqual([row.delivery_id, row.delivery_id])
    expect(await deliveriesOf(world, hook)).toMatchObject([{ status: 'delivered' }])
  })

  it('of the announcer leaves nothing half done', async () => {
    const buyer = await newBuyer()
    await buyThrough(world.m, buyer, world.link)
    await mineBlocks(world.m, CONFIRMATIONS)
    await world.m.withoutTable('market.webhook_deliveries', async () => {
      await expect(announceAll(world)).rejects.toThrow(/does not exist/)
    })
    await deliver(world)
    expect(idsAt(buyer.hook)).toHaveLength(1)
  })

  it('of a sender whose lease has ended: its late answer changes nothing', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    await bought(buyer)
    const letGo = world.receiver.hold(hook.path)
    world.receiver.answer(hook.path, { status: 410 })
    const [claimed] = await claim(world.context, 100)
    const late = claimed && sendTo(world.context, claimed)
    await until(() => idsAt(hook).length === 1, 'the message')
    later(LEASE_MS + SECOND)
    const [second] = await claim(world.context, 100)
    letGo()
    await late
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: null })
    if (second) await sendTo(world.context, second)
    expect(await deliveriesOf(world, hook)).toMatchObject([{ status: 'delivered' }])
  })
})

describe('a replay', () => {
  const replay = ({ id, owner }: Hook, body: object) =>
    world.m.call('POST', `/v1/webhooks/${id}/replay`, { as: owner, body })

  it('sends one message again, or all since a moment, with their ids', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    await bought(buyer, 2)
    await sendAll(world)
    const [first, second] = idsAt(hook)
    expect((await replay(hook, { delivery_id: second })).body).toEqual({ replayed: 1, next_after: null })
    await sendAll(world)
    expect((await replay(hook, { since: '2020-01-01T00:00:00Z' })).body).toEqual({
      replayed: 2,
      next_after: null,
    })
    expect((await replay(hook, { since: '2020-01-01T00:00:00Z' })).body).toEqual({
      replayed: 0,
      next_after: null,
    })
    await sendAll(world)
    expect(idsAt(hook)).toEqual([first, second, second, first, second])
    expect((await replay(hook, { since: '2099-01-01T00:00:00Z' })).body).toEqual({
      replayed: 0,
      next_after: null,
    })
    expect((await replay(hook, { delivery_id: first })).body).toEqual({ replayed: 1, next_after: null })
    expect(await replay(hook, { delivery_id: second })).toMatchObject({ status: 429 })
  })

  it('takes a hundred at most, and goes on behind the last of them', async () => {
    const { hook } = await newBuyer()
    await world.m.sql`
      INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at)
      SELECT ${hook.id}, 'msg_' || n, 'purchase.settled', '{}', now() FROM generate_series(1, 250) AS n ORDER BY n`
    const first = await replay(hook, { since: '2020-01-01T00:00:00Z' })
    expect(first.body).toEqual({ replayed: 100, next_after: 'msg_100' })
    const second = await replay(hook, { after: 'msg_100' })
    expect(second.body).toEqual({ replayed: 100, next_after: 'msg_200' })
    await sendAll(world)
    expect(idsAt(hook)).toEqual(Array.from({ length: 200 }, (_, at) => `msg_${at + 1}`))
    expect((await replay(hook, { after: 'msg_200' })).body).toEqual({ replayed: 50, next_after: null })
    expect((await replay(hook, { after: 'msg_none' })).status).toBe(409)
  })

  it('is refused for what is not there, and without either', async () => {
    const { hook } = await newBuyer()
    expect(await replay(hook, {})).toMatchObject({
      status: 400,
      body: { error: 'delivery_id, since or after, one of them' },
    })
    expect((await replay(hook, { delivery_id: 'msg_1', since: '2020-01-01T00:00:00Z' })).status).toBe(400)
    expect((await replay(hook, { delivery_id: 'msg_1' })).status).toBe(409)
  })
})

describe('a secret', () => {
  it('that was rotated signs for a day beside the new one', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    const { secret } = await must(
      world.m.call('POST', `/v1/webhooks/${hook.id}/rotate`, {
        as: hook.owner,
        body: naming('POST', `/v1/webhooks/${hook.id}/rotate`),
      }),
    )
    expect(secret).not.toBe(hook.secret)
    await bought(buyer)
    await sendAll(world)
    const [got] = world.receiver.at(hook.path)
    if (!got) throw new Error('nothing arrived')
    for (const one of [secret, hook.secret]) expect(verified(one, got).type).toBe('purchase.settled')
    later(DAY + SECOND)
    await bought(buyer)
    await sendAll(world)
    const last = world.receiver.at(hook.path).at(-1)
    if (!last) throw new Error('nothing arrived')
    expect(verified(secret, last).type).toBe('purchase.settled')
    expect(() => verified(hook.secret, last)).toThrow(/No matching signature/)
  })

  it('of a key that was replaced goes on signing while the old key is in the list', async () => {
    const buyer = await newBuyer()
    await bought(buyer)
    const { config } = world.context
    const [old] = config.webhookKeys
    if (!old) throw new Error('there is no key')
    const newer = Object.assign(Object.create(Object.getPrototypeOf(old)), old)
    newer.reveal = () => 'cd'.repeat(32)
    const both = { ...world.context, config: { ...config, webhookKeys: [newer, old] } }
    for (const claimed of await claim(both, 100)) await sendTo(both, claimed)
    const [got] = world.receiver.at(buyer.hook.path)
    if (!got) throw new Error('nothing arrived')
    expect(String(got.headers['webhook-signature']).split(' ')).toHaveLength(2)
    expect(verified(buyer.hook.secret, got).type).toBe('purchase.settled')
  })
})

describe('messages', () => {
  it('are forgotten after 30 days; of very many the texts are forgotten before, but not that they were sent', async () => {
    const buyer = await newBuyer()
    const { hook } = buyer
    await bought(buyer, 3)
    await sendAll(world)
    await dropTexts(world.m.sql, 2)
    expect(
      (await deliveriesOf(world, hook)).map(({ can_replay }: { can_replay: boolean }) => can_replay),
    ).toEqual([true, true, false])
    const sweep = () =>
      sweepDeliveries(world.context).run({ signal: AbortSignal.timeout(60_000), sql: world.m.sql })
    later(29 * DAY)
    await sweep()
    expect(await deliveriesOf(world, hook)).toHaveLength(3)
    later(2 * DAY)
    await sweep()
    expect(await deliveriesOf(world, hook)).toEqual([])
  })

  it('of a webhook that has been disabled for 90 days are deleted with it', async () => {
    const { hook } = await newBuyer()
    const other = (await newBuyer()).hook
    await world.m.sql`
      UPDATE market.webhooks SET disabled_at = now() - INTERVAL '91 days' WHERE webhook_id = ${hook.id}`
    await sweepWebhooks.run({ signal: AbortSignal.timeout(60_000), sql: world.m.sql })
    expect([await shownOf(world, hook), await shownOf(world, other)]).toEqual([undefined, expect.any(Object)])
  })

  it('are counted by outcome, and the longest due webhook is shown', async () => {
    const buyer = await newBuyer()
    await bought(buyer)
    later(HOUR)
    const metrics = async () => (await fetch(`${world.m.service.url}/metrics`)).text()
    const [, seconds] = /^referrer_webhooks_oldest_due_seconds (.*)$/m.exec(await metrics()) ?? []
    expect(Number(seconds)).toBeGreaterThan(3_500)
    await sendAll(world)
    const { delivered } = countMessages(world.context)
    expect(delivered).toBeGreaterThan(0)
    expect(await metrics()).toContain(`referrer_webhook_messages_total{outcome="delivered"} ${delivered}`)
  })
})
