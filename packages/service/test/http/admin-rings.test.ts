// The queue of suspected rings.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeSearch } from '../../src/derived/rings/found-store.ts'
import { searchChain } from '../../src/derived/rings/schedule.ts'
import { account, createTown, ringOf, searchOn, type Town } from '../../src/derived/rings/testing.ts'
import { type AdminDesk, startAdminDesk } from './admin.ts'
import { must } from './caller.ts'
import { NO_WORK, type TestMarket } from './market.ts'

/** Agent n belongs to owner n. */
const HONEST = Array.from({ length: 20 }, (_, index) => 1_001 + index)
const RING = [2_001, 2_002, 2_003]
const [GOOD, OWN] = [900, 901]
const addressOf = (owner: number) => new RegExp(`^0x0*${owner.toString(16)}$`, 'i')

let desk: AdminDesk
let m: TestMarket
let town: Town
let ringId: number

beforeAll(async () => {
  // Nobody computes standings: the test writes them.
  desk = await startAdminDesk(NO_WORK)
  ;({ m } = desk)
  town = createTown(m.sql, m.chainId)
  await town.agents(...HONEST, ...RING)
  await town.shops(true, GOOD)
  await town.shops(false, OWN)
  for (const [index, voter] of HONEST.entries()) {
    for (const step of [1, 3, 7]) {
      await town.vote({ voter, author: HONEST[(index + step) % HONEST.length] as number, merchantId: GOOD })
    }
  }
  await town.collude(RING, OWN, 2)
  await town.standing(2_001, 300_000)
  await town.pass()
  const { signal } = new AbortController()
  await searchChain({ ...m.service.context, clock: () => town.clock.now }, m.chainId, signal)
  ringId = (await rings())[0].ring_id
})
afterAll(() => m.close())

const read = (path: string) => m.call('GET', path, { token: desk.token })
const rings = async (query = '') => (await must(read(`/admin/rings?${query}`))).rings
const post = (path: string, body?: unknown) =>
  m.call('POST', path, { token: desk.token, ...(body ? { body } : {}) })
const stateOf = async () => (await must(read(`/admin/rings/${ringId}`))).state

describe('a suspected ring', () => {
  it('is shown with its members and their agents, its shops and who voted for whom', async () => {
    const { body } = await read(`/admin/rings/${ringId}`)
    expect(body).toMatchObject({
      ring_id: ringId,
      state: 'open',
      members: 3,
      shops: 1,
      votes_inside: 12,
      votes_all: 12,
      spent_inside_usdc: 600_000,
      spent_all_usdc: 600_000,
      standing: 100_000,
      note: null,
      dismissed_at: null,
    })
    expect(body.owners).toEqual(
      RING.map((owner) => ({
        owner: expect.stringMatching(addressOf(owner)),
        standing: owner === 2_001 ? 300_000 : null,
        votes_cast: 4,
        votes_got: 4,
        agents: [{ agent_id: owner, flagged: false }],
      })),
    )
    expect(body.places).toEqual([
      { merchant_id: OWN, owner: null, standing: 50_000, votes: 12, spent_usdc: 600_000 },
    ])
    expect(body.pairs).toHaveLength(6)
    expect(body.pairs[0]).toEqual({
      voter: expect.stringMatching(addressOf(2_001)),
      author: expect.stringMatching(addressOf(2_002)),
      votes: 2,
    })
    const [listed, ...others] = await rings()
    expect(others).toEqual([])
    expect(body).toMatchObject(listed)
    expect(await read('/admin/rings/999999')).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await read(`/admin/rings/${ringId}?chain_id=31338`)).toMatchObject({ status: 404 })
  })

  it('shows its votes newest first, page after page', async () => {
    const votes = async (query: string) => (await must(read(`/admin/rings/${ringId}/votes?${query}`))).votes
    const all = await votes('limit=100')
    expect(all).toHaveLength(12)
    expect(all.map(({ cast_at }: { cast_at: string }) => cast_at)).toEqual(
      all
        .map(({ cast_at }: { cast_at: string }) => cast_at)
        .toSorted()
        .reverse(),
    )
    expect(all[0]).toMatchObject({
      voter_agent_id: 2_003,
      author_agent_id: 2_002,
      merchant_id: OWN,
      reasoning: 'because',
    })
    expect([...(await votes('limit=7')), ...(await votes('limit=7&page=2'))]).toEqual(all)
    expect(await read('/admin/rings/999999/votes')).toMatchObject({ status: 404 })
  })

  it('counts as acted on when all agents of its members are flagged, by an admin and nobody else', async () => {
    expect(await m.sql`SELECT FROM market.agents WHERE chain_id = ${m.chainId} AND flagged`).toHaveLength(0)
    for (const agent of RING.slice(1)) await must(post(`/admin/agents/${agent}/flag`))
    expect(await stateOf()).toBe('open')
    await must(post('/admin/agents/2001/flag'))
    expect(await stateOf()).toBe('acted')
    expect(await rings('state=open')).toEqual([])
    expect(await rings('state=acted')).toMatchObject([{ ring_id: ringId, state: 'acted' }])
    for (const agent of RING) await must(post(`/admin/agents/${agent}/unflag`))
    expect(await stateOf()).toBe('open')
  })

  it('is dismissed once, with a note', async () => {
    const dismiss = (id: number, body: unknown = { note: 'A family.' }) =>
      post(`/admin/rings/${id}/dismiss`, body)
    expect(await dismiss(ringId, { note: ' ' })).toMatchObject({
      status: 400,
      body: { error: 'note required' },
    })
    expect(await dismiss(999_999)).toMatchObject({ status: 404, body: { error: 'not found' } })
    const { dismissed_at } = await must(dismiss(ringId))
    expect(await dismiss(ringId)).toMatchObject({ status: 409, body: { error: 'ring is already dismissed' } })
    expect(await rings('state=dismissed')).toMatchObject([
      { ring_id: ringId, note: 'A family.', dismissed_at, dismissed_by: desk.admin.address },
    ])
    expect(desk.logged).toContainEqual(
      expect.objectContaining({
        admin: desk.admin.address,
        action: 'ring dismissed',
        ringId: String(ringId),
      }),
    )
  })

  it('comes after those that are open, of which the largest is first', async () => {
    const [two, four] = [
      [5_001, 5_002],
      [6_001, 6_002, 6_003, 6_004],
    ].map((owners) => ringOf(owners.map(account), BigInt(OWN)))
    await storeSearch(
      m.sql,
      searchOn(m.chainId, new Date(town.clock.now)),
      [four, two].flatMap((ring) => ring ?? []),
    )
    const shown = (await rings()).map(({ state, members }: { state: string; members: number }) => ({
      state,
      members,
    }))
    expect(shown).toEqual([
      { state: 'open', members: 4 },
      { state: 'open', members: 2 },
      { state: 'dismissed', members: 3 },
    ])
    expect((await rings('limit=1&page=2'))[0]).toMatchObject({ members: 2 })
    expect(await read('/admin/rings?state=new')).toMatchObject({ status: 400 })
  })
})
