import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhook } from '../../src/market/webhooks/operations.ts'
import { must, naming, sessionOf } from '../http/caller.ts'
import { buyThrough, type Person } from '../http/town.ts'
import { verified } from './receiver.ts'
import {
  deliver,
  deliveriesOf,
  type Hook,
  newHook,
  newPerson,
  newUntested,
  shownOf,
  startWorld,
  typesOf,
  type World,
} from './world.ts'

let world: World
let person: Person

beforeAll(async () => {
  world = await startWorld()
  person = await newPerson(world)
})
afterAll(() => world.close())

const make = (body: object, as = person.owner) => world.m.call('POST', '/v1/webhooks', { as, body })

const test = ({ id, owner }: Hook) => {
  const path = `/v1/webhooks/${id}/test`
  return world.m.call('POST', path, { as: owner, body: naming('POST', path) })
}
const UNTESTED = 'not tested yet: give its secret to the endpoint, then POST /v1/webhooks/{id}/test'
const URL_ERROR = 'url must be an https address of at most 2048 characters on a public host'

describe('a webhook', () => {
  it('is made with a secret that no other answer shows, and listed for its owner, who may have a session instead [ERR-03 otherwise]', async () => {
    const answer = await make({
      url: `${world.receiver.url}/a`,
      description: 'my shop',
      events: ['vote.cast'],
    })
    expect(answer.status).toBe(201)
    const { secret, ...shown } = answer.body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toMatchObject({
      webhook_id: expect.stringMatching(/^wh_[0-9a-f]{32}$/),
      chain_id: world.m.chainId,
      events: ['vote.cast'],
      description: 'my shop',
      agent_id: null,
      merchant_id: null,
      disabled_at: expect.any(String),
      disabled_reason: UNTESTED,
    })
    const listed = await world.m.call('GET', '/v1/webhooks', {
      token: await sessionOf(world.m.call, person.owner),
    })
    expect(listed.body.webhooks).toContainEqual(shown)
    expect(listed.text).not.toContain('whsec_')
    const stored = await world.m.sql`SELECT w::text AS text FROM market.webhooks AS w`
    expect(JSON.stringify(stored)).not.toContain(secret.slice(6))
  })

  it('belongs to its owner alone', async () => {
    const { id, owner } = await newHook(world, person.owner)
    const other = await newPerson(world)
    const paths = [
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', '/test'],
      ['POST', '/rotate'],
      ['POST', '/replay'],
    ] as const
    for (const [method, path] of paths) {
      const url = `/v1/webhooks/${id}${path}`
      const bodies: Record<string, object> = { '/replay': { delivery_id: 'msg_1' } }
      const body = method === 'GET' ? {} : { body: bodies[path] ?? naming(method, url) }
      expect(await world.m.call(method, url, { as: other.owner, ...body }), url).toMatchObject({
        status: 404,
        body: { error: 'not found' },
      })
      expect((await world.m.call(method, url, body)).status).toBe(401)
    }
    expect((await must(world.m.call('GET', '/v1/webhooks', { as: other.owner }))).webhooks).toEqual([])
    const ask = { as: owner, body: naming('DELETE', `/v1/webhooks/${id}`) }
    expect((await world.m.call('DELETE', `/v1/webhooks/${id}`, ask)).status).toBe(204)
    expect((await world.m.call('DELETE', `/v1/webhooks/${id}`, ask)).status).toBe(404)
  })

  it('is neither tested, rotated nor deleted by the signature of a read, or of another request about a webhook', async () => {
    const { id, owner, path } = await newHook(world, person.owner)
    const timestamp = Math.floor(Date.now() / 1_000)
    await must(world.m.call('GET', '/v1/webhooks', { as: owner, timestamp }))
    const asked = [
      ['POST', `/v1/webhooks/${id}/test`, 200],
      ['POST', `/v1/webhooks/${id}/rotate`, 200],
      ['DELETE', `/v1/webhooks/${id}`, 204],
    ] as const
    for (const [method, url] of asked) {
      // Each client may ask five times a second.
      world.m.clock.aheadMs += 1_000
      const own = naming(method, url)
      const wrong = [
        ...asked.filter(([, other]) => other !== url).map(([other, path]) => naming(other, path)),
        naming(method, url.replace(id, `wh_${'0'.repeat(32)}`)),
        { ...own, domain: 'other.test' },
      ]
      const refused = {
        status: 401,
        body: { error: 'unauthorized', detail: expect.stringContaining(own.action) },
      }
      expect(await world.m.call(method, url, { as: owner, timestamp }), url).toMatchObject(refused)
      for (const body of wrong)
        expect(await world.m.call(method, url, { as: owner, body })).toMatchObject(refused)
    }
    expect(world.receiver.at(path)).toEqual([])
    world.m.clock.aheadMs += 1_000
    for (const [method, url, status] of asked) {
      const ask = { as: owner, body: naming(method, url) }
      expect((await world.m.call(method, url, ask)).status).toBe(status)
    }
  })

  it('has a URL that we may call', async () => {
    const bad = [
      'ftp://shop.test/hook',
      'https://user:password@shop.test/hook',
      'https://10.0.0.1/hook',
      'http://169.254.169.254/latest',
      'http://[::ffff:10.0.0.1]/',
      `https://shop.test/${'x'.repeat(2_048)}`,
      'shop.test',
      ' https://shop.test',
      '',
    ]
    for (const url of bad)
      expect(await make({ url }), url).toMatchObject({ status: 400, body: { error: URL_ERROR } })
    expect((await make({ url: 7 })).status).toBe(400)
    // Where no sandbox is.
    const { context } = world
    const strict = { ...context, config: { ...context.config, allowPrivateHosts: false } }
    const [chain] = context.chains.values()
    if (!chain) throw new Error('there is no chain')
    const draft = { events: undefined, description: '', agentId: undefined, merchantId: undefined }
    for (const url of ['http://shop.test/hook', 'https://127.0.0.1/hook', 'https://localhost/hook'])
      await expect(
        createWebhook(strict, chain, person.owner.address, { ...draft, url }, 'a client'),
      ).rejects.toThrow(URL_ERROR)
  })

  it('is about something that its owner owns', async () => {
    const { url } = world.receiver
    const of = (more: object) => make({ url, ...more })
    expect((await of({ agent_id: Number(person.agentId) })).body).toMatchObject({
      agent_id: Number(person.agentId),
    })
    const refused = [
      [{ agent_id: Number(world.link.author.agentId) }, 403, 'caller does not own this agent'],
      [{ merchant_id: Number(world.merchantId) }, 403, 'caller does not own this merchant'],
      [{ agent_id: 999_999 }, 404, 'agent not found on-chain'],
      [{ merchant_id: 999_999 }, 404, 'merchant not found on-chain'],
      [{ agent_id: 1, merchant_id: 1 }, 400, 'agent_id or merchant_id, not both'],
      [{ chain_id: 999_999 }, 400, 'chain_id not configured'],
      [{ events: [] }, 400, 'invalid request'],
      [{ events: ['no.such'] }, 400, 'invalid request'],
      [{ description: 'x'.repeat(201) }, 400, 'invalid request'],
    ] as const
    for (const [more, status, error] of refused)
      expect(await of(more), JSON.stringify(more)).toMatchObject({ status, body: { error } })
  })

  it('is one of ten of its owner at most, even when they are made at the same time', async () => {
    const { owner } = await newPerson(world)
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, at) => make({ url: `${world.receiver.url}/${at}` }, owner)),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(10).fill(201), ...Array(5).fill(409)])
  })

  it('is one of 256 that a client makes in a day', async () => {
    const { context } = world
    const [chain] = context.chains.values()
    if (!chain) throw new Error('there is no chain')
    await world.m.sql`
      UPDATE market.written SET bytes = 255 * 4096 WHERE what = 'webhooks made by this client'`
    const { owner } = await newPerson(world)
    expect((await make({ url: world.receiver.url }, owner)).status).toBe(201)
    const answer = await make({ url: `${world.receiver.url}/more` }, owner)
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    await world.m.sql`DELETE FROM market.written WHERE what = 'webhooks made by this client'`
  })
})

describe('a test', () => {
  it('is sent at once, signed, and not too often', async () => {
    const hook = await newHook(world, (await newPerson(world)).owner)
    // The limit of each client, which is 5 a second, has forgotten the tests before.
    world.m.clock.aheadMs += 1_000
    expect((await test(hook)).body).toEqual({ delivered: true, last_status: 204, last_answer: '' })
    const [got] = world.receiver.at(hook.path)
    if (!got) throw new Error('nothing arrived')
    expect(verified(hook.secret, got)).toMatchObject({ type: 'webhook.test', data: { webhook_id: hook.id } })
    expect(got.headers['content-type']).toBe('application/json')
    await world.m.atOnce(async () => {
      for (let more = 0; more < 4; more += 1) {
        world.m.clock.aheadMs += 250
        expect((await test(hook)).status).toBe(200)
      }
      world.m.clock.aheadMs += 250
      expect((await test(hook)).status).toBe(429)
    })
    expect(world.receiver.at(hook.path)).toHaveLength(5)
    world.m.clock.aheadMs = 0
  })

  it('of an endpoint that nobody answers at tells why', async () => {
    const { owner } = await newPerson(world)
    const { webhook_id: id } = (await make({ url: 'http://127.0.0.1:1/' }, owner)).body
    const { body } = await test({ id, owner, path: '', secret: '' })
    expect(body).toEqual({ delivered: false, last_status: null, last_answer: 'connection refused' })
  })

  it('has to succeed before anything else is sent', async () => {
    const buyer = await newPerson(world)
    const hook = await newUntested(world, buyer.owner)
    const sent = async () => {
      await buyThrough(world.m, buyer, world.link)
      await deliver(world)
      return typesOf(world, hook)
    }
    expect(await sent()).toEqual([])
    expect(world.receiver.got.filter(({ path }) => path === hook.path)).toEqual([])
    world.receiver.answer(hook.path, { status: 401 })
    expect((await test(hook)).body).toMatchObject({ delivered: false, last_status: 401 })
    expect(await shownOf(world, hook)).toMatchObject({ disabled_reason: UNTESTED })
    expect(await sent()).toEqual(['webhook.test'])
    expect((await test(hook)).body).toMatchObject({ delivered: true })
    expect(await shownOf(world, hook)).toMatchObject({ disabled_at: null, disabled_reason: null })
    expect(await sent()).toEqual(['webhook.test', 'webhook.test', 'purchase.settled'])
  })

  it('is not sent again and again to an endpoint that has never wanted one', async () => {
    const hook = await newUntested(world, (await newPerson(world)).owner)
    const refusing = Array.from({ length: 30 }, () => ({ status: 404 }))
    world.receiver.answer(hook.path, ...refusing)
    for (let times = 0; times < 20; times += 1) {
      world.m.clock.aheadMs += 10_000
      expect((await test(hook)).status).toBe(200)
    }
    world.m.clock.aheadMs += 10_000
    expect(await test(hook)).toMatchObject({
      status: 409,
      body: { error: '20 tests failed: delete the webhook and make a new one' },
    })
    expect(world.receiver.at(hook.path)).toHaveLength(20)
    world.m.clock.aheadMs = 0
  })
})

it('the list of deliveries has pages', async () => {
  const { owner } = await newPerson(world)
  const hook = await newHook(world, owner)
  await world.m.sql`
    INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at)
    SELECT ${hook.id}, 'msg_' || n, 'vote.cast', '{}', '2026-01-01'::timestamptz + n * INTERVAL '1 second' FROM generate_series(1, 60) AS n`
  const page = async (query: string) =>
    (
      await must(world.m.call('GET', `/v1/webhooks/${hook.id}/deliveries${query}`, { as: owner }))
    ).deliveries.map(({ delivery_id }: { delivery_id: string }) => delivery_id)
  expect(await deliveriesOf(world, hook)).toHaveLength(50)
  expect(await page('?limit=2&offset=1')).toEqual(['msg_59', 'msg_58'])
  expect(await page('?limit=200&offset=58')).toEqual(['msg_2', 'msg_1'])
  expect(await shownOf(world, hook)).toMatchObject({ failing_since: null })
})
