import { standingOf, voiceOf } from '@referrer/ranking'
import { pino } from 'pino'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { standingFollower } from '../../src/derived/standing/follow.ts'
import { account, createGround, type Ground } from '../../src/derived/standing/testing.ts'
import { NO_WORK, startTestMarket, type TestMarket } from './market.ts'

const MILLION = 1_000_000
const USDC = 1_000_000
/** Beyond those that the market registers on its chain. Shop n belongs to owner n. */
const [VERIFIED, SMALL, CLOSED, RING] = [1_001, 1_002, 1_003, 1_004]
const [REGULAR, NEWCOMER, MEMBER] = [2_001, 2_002, 2_003]

const shown = (owner: number) => getAddress(`0x${account(owner).toString('hex')}`)

let m: TestMarket
let g: Ground

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  g = createGround(m.sql, m.chainId, [standingFollower({ log: pino({ level: 'silent' }) })])
  for (const shop of [VERIFIED, SMALL, CLOSED, RING]) await g.shop(shop, shop)
  await g.spend(REGULAR, VERIFIED, 9 * USDC)
  await g.spend(REGULAR, SMALL, 1 * USDC)
  await g.spend(MEMBER, RING, 40 * USDC)
})
afterAll(() => m.close())

const read = async (path: string) => (await m.call('GET', `/v1/standing${path}`)).body

/** What the lists have of an item, each some of it. */
interface Item {
  owner: string
  merchant_id: number
  spent: number
  standing: number
  is_verified: boolean
  customers: number
}

/** All items of a list, in pages of this size. */
async function all(path: string, name: string, limit: number): Promise<Item[]> {
  const items: Item[] = []
  for (let after = ''; ; ) {
    const body = await read(`/${path}?limit=${limit}${after && `&after=${after}`}`)
    expect(body[name].length).toBeLessThanOrEqual(limit)
    items.push(...body[name])
    if (body.next === null) return items
    expect(body[name]).toHaveLength(limit)
    after = body.next
  }
}

describe('before a shop is verified', () => {
  it('standings do not count, and everything counts in full', async () => {
    expect(await read('')).toEqual({
      chain_id: m.chainId,
      is_on: false,
      pass: null,
      day: null,
      as_of_block: null,
      computed_at: null,
      verified_shops: 0,
      owners: 0,
      shops: 0,
    })
    expect(await read(`/owner/${shown(MEMBER)}`)).toMatchObject({ is_on: false, standing: null, voice: 1 })
    expect(await read(`/shop/${RING}`)).toMatchObject({
      is_on: false,
      standing: null,
      is_verified: false,
      verification: null,
      ground: 1,
      revenue: null,
      customers: null,
      from: [{ owner: shown(MEMBER), standing: null }],
    })
    expect(await read('/owners')).toEqual({ is_on: false, pass: null, owners: [], next: null })
    expect(await read('/shops')).toEqual({ is_on: false, pass: null, shops: [], next: null })
  })
})

describe('when shops are verified', () => {
  beforeAll(async () => {
    await g.decide(VERIFIED)
    await g.decide(CLOSED)
    await g.follow()
    await g.decide(CLOSED, false)
    g.pass(1)
    await g.follow()
  })

  it('tells what was computed last', async () => {
    expect(await read('')).toEqual({
      chain_id: m.chainId,
      is_on: true,
      pass: 2,
      day: '2026-06-02',
      as_of_block: expect.any(Number),
      computed_at: '2026-06-02T12:00:01Z',
      verified_shops: 1,
      owners: 2,
      shops: 3,
    })
  })

  it('tells where the standing of an owner comes from, the largest first', async () => {
    const body = await read(`/owner/${shown(REGULAR).toLowerCase()}`)
    // Spent a day ago.
    const spent = [9, 1].map((units) => Math.floor(units * USDC * 0.5 ** (1 / 180)))
    const total = (spent[0] ?? 0) + (spent[1] ?? 0)
    expect(body).toEqual({
      owner: shown(REGULAR),
      is_on: true,
      pass: 2,
      day: '2026-06-02',
      standing: expect.any(Number),
      voice: expect.any(Number),
      spent_total: total,
      spent: [
        { merchant_id: VERIFIED, spent: spent[0], share: 0.9, shop_standing: 1, is_verified: true },
        {
          merchant_id: SMALL,
          spent: spent[1],
          share: expect.closeTo(0.1, 5),
          shop_standing: expect.any(Number),
          is_verified: false,
        },
      ],
    })
    expect(body.standing).toBeCloseTo(0.9 + 0.1 * body.spent[1].shop_standing, 5)
    expect(body.voice).toBe(voiceOf(Math.round(body.standing * MILLION)) / MILLION)
    expect(await read(`/owner/${shown(MEMBER)}`)).toMatchObject({ standing: 0, voice: 0 })
    expect(await read(`/owner/${shown(NEWCOMER)}`)).toMatchObject({
      standing: null,
      voice: 1,
      spent_total: 0,
      spent: [],
    })
  })

  it('tells where the standing of a shop comes from', async () => {
    expect(await read(`/shop/${VERIFIED}`)).toEqual({
      merchant_id: VERIFIED,
      is_on: true,
      pass: 2,
      day: '2026-06-02',
      standing: 1,
      is_verified: true,
      verification: { note: `note on ${VERIFIED}`, decided_at: '2026-06-01T12:00:00Z' },
      ground: 1,
      revenue: expect.any(Number),
      customers: 1,
      from: [{ owner: shown(REGULAR), spent: expect.any(Number), standing: expect.any(Number) }],
    })
    const small = await read(`/shop/${SMALL}`)
    expect(small).toMatchObject({ is_verified: false, verification: null, customers: 1 })
    expect(small.standing).toBeCloseTo(0.8 * small.from[0].standing, 5)
    expect(await read(`/shop/${RING}`)).toMatchObject({ standing: 0, ground: 0 })
    expect(await read(`/shop/${CLOSED}`)).toMatchObject({ standing: 0, verification: null, revenue: null })
  })

  it('shows the largest hundred, in order', async () => {
    const amounts = Array.from({ length: 105 }, (_, at) => ((at * 37) % 105) + 1)
    for (const [at, amount] of amounts.entries()) {
      await g.spend(3_000 + at, SMALL, amount)
      await g.spend(NEWCOMER, 5_000 + at, amount)
    }
    const { from } = await read(`/shop/${SMALL}`)
    const { spent } = await read(`/owner/${shown(NEWCOMER)}`)
    const amountsOf = (rows: { spent: number }[]) => rows.map((row) => row.spent)
    expect(amountsOf(spent)).toEqual(Array.from({ length: 100 }, (_, at) => 105 - at))
    expect(amountsOf(from).slice(1)).toEqual(Array.from({ length: 99 }, (_, at) => 105 - at))
  })

  it('lets anybody compute all standings again', async () => {
    g.pass(1)
    await g.follow()
    const entries = await all('spending', 'spending', 50)
    expect(entries).toEqual(await all('spending', 'spending', 1_000))
    const counted = entries.filter(({ spent }) => spent > 0)
    expect(counted.length).toBeLessThan(entries.length)
    const owners = [...new Set(counted.map(({ owner }) => owner))]
    const shops = await all('shops', 'shops', 7)
    const ids = shops.map(({ merchant_id }) => merchant_id)
    const first = owners.map((owner) => counted.findIndex((entry) => entry.owner === owner))
    const standing = standingOf({
      first: Int32Array.from([...first, counted.length]),
      shop: Int32Array.from(counted, ({ merchant_id }) => ids.indexOf(merchant_id)),
      spent: Float64Array.from(counted, ({ spent }) => spent),
      isVerified: Uint8Array.from(shops, ({ is_verified }) => (is_verified ? 1 : 0)),
    })
    expect(await all('owners', 'owners', 13)).toEqual(
      owners.map((owner, at) => ({ owner, standing: (standing.owners[at] ?? 0) / MILLION })),
    )
    expect(shops.map((shop) => shop.standing)).toEqual([...standing.shops].map((each) => each / MILLION))
    expect(shops.reduce((sum, shop) => sum + shop.customers, 0)).toBe(counted.length)
  })
})

describe('a request', () => {
  it('for a shop that does not exist is refused', async () => {
    expect(await m.call('GET', '/v1/standing/shop/77777')).toMatchObject({
      status: 404,
      body: { error: 'merchant not found' },
    })
  })

  it.each([
    ['owner/0x12', 'invalid address'],
    ['shop/x', 'invalid merchant id'],
    ['owners?after=0x12', 'invalid after'],
    ['shops?after=-1', 'invalid after'],
    ['spending?after=0x12/1', 'invalid after'],
    ['spending?limit=x', 'invalid limit'],
  ])('with nonsense is refused: %s', async (path, error) => {
    expect(await m.call('GET', `/v1/standing/${path}`)).toMatchObject({ status: 400, body: { error } })
  })

  it('takes a limit from 1 to 1000', async () => {
    expect((await read('/spending?limit=0')).spending).toHaveLength(1)
    expect((await read('/spending?limit=5000')).spending.length).toBeGreaterThan(100)
  })
})

describe('a service at work', () => {
  let atWork: TestMarket
  beforeAll(async () => {
    atWork = await startTestMarket()
  })
  afterAll(() => atWork.close())

  it('computes standings when a shop is verified, without being asked', async () => {
    const { sql, chainId } = atWork
    const shops = createGround(sql, chainId, [])
    await shops.shop(VERIFIED, VERIFIED)
    await shops.decide(VERIFIED)
    await expect
      .poll(async () => (await atWork.call('GET', '/v1/standing')).body, { timeout: 30_000 })
      .toMatchObject({ is_on: true, pass: 1, verified_shops: 1, shops: 1 })
  })
})
