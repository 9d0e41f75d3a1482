import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agents, CARD, EARNED, NOTHING_EARNED, OTHER_CHAIN, startAgents } from './agents.ts'

const NOBODY = '0x00000000000000000000000000000000000000AA'

interface Entry {
  agent_id: number
  owner_address: string
  registered_at: string
  commission: Record<string, number>
  [key: string]: unknown
}

let world: Agents
let all: number[]

beforeAll(async () => {
  // More than one page.
  world = await startAgents(18)
  ;({ all } = world)
})
afterAll(() => world.m.close())

const list = (query = '') => world.m.call('GET', `/v1/agent${query}`)
const entries = async (query = ''): Promise<Entry[]> => (await list(query)).body.agents
/**
 * All agents of the default chain; fails if the list is incomplete, because checks of each entry would pass on an
 * empty list.
 */
async function everyEntry(): Promise<Entry[]> {
  const agents = await entries('?limit=500')
  expect(agents).toHaveLength(all.length)
  return agents
}
const idsOf = (agents: Entry[]) => agents.map(({ agent_id }) => agent_id)
const entryOf = async (agentId: number) =>
  (await entries('?limit=500')).find(({ agent_id }) => agent_id === agentId)
/** The agents of a page, and its paging fields. */
async function page(query: string) {
  const { agents, ...rest } = (await list(query)).body
  return { ids: idsOf(agents), ...rest }
}

describe('the list of agents', () => {
  it('is open to anybody, and has agents, total, page and limit [AGENT-02, AGENT-03]', async () => {
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['agents', 'limit', 'page', 'total'])
    expect(body.total).toBe(all.length)
  })

  it('starts with the first page, of 20 [AGENT-04, AGENT-06]', async () => {
    const first = { ids: all.slice(0, 20), total: all.length, page: 1, limit: 20 }
    expect(await page('')).toEqual(first)
    expect(await page('?page=2')).toEqual({ ...first, ids: all.slice(20), page: 2 })
  })

  it('takes a page below 1 for the first [AGENT-05]', async () => {
    for (const asked of [0, -3]) {
      const first = { ids: all.slice(0, 2), total: all.length, page: 1, limit: 2 }
      expect(await page(`?page=${asked}&limit=2`)).toEqual(first)
    }
    expect(await page('?page=2&limit=2')).toMatchObject({ ids: all.slice(2, 4), page: 2 })
  })

  it('is empty beyond the last page, however far', async () => {
    for (const asked of [2, Number.MAX_SAFE_INTEGER]) {
      const beyond = { ids: [], total: all.length, page: asked, limit: 500 }
      expect(await page(`?page=${asked}&limit=500`)).toEqual(beyond)
    }
  })

  it('gives each its own page when many ask at the same moment', async () => {
    const asked = Array.from({ length: 40 }, (_, at) => (at % 3) + 1)
    const pages = await Promise.all(asked.map((number) => page(`?limit=1&page=${number}`)))
    expect(pages.map(({ ids }) => ids)).toEqual(asked.map((number) => [all[number - 1]]))
  })

  it('takes a limit below 1 for 20 [AGENT-07]', async () => {
    for (const limit of [0, -1]) {
      expect(await page(`?limit=${limit}`)).toMatchObject({ ids: all.slice(0, 20), limit: 20 })
    }
    expect(await page('?limit=1')).toMatchObject({ ids: all.slice(0, 1), limit: 1 })
  })

  it('takes a limit above 500 for 500 [AGENT-08]', async () => {
    for (const [asked, limit] of [
      [499, 499],
      [500, 500],
      [501, 500],
      [1_000_000, 500],
    ]) {
      expect(await page(`?limit=${asked}`)).toMatchObject({ ids: all, limit })
    }
  })

  it('has the agents of one chain [AGENT-71]', async () => {
    expect(await page(`?chain_id=${OTHER_CHAIN}`)).toMatchObject({
      ids: world.elsewhere,
      total: world.elsewhere.length,
    })
    expect(await page(`?chain_id=${world.m.chainId}&limit=500`)).toMatchObject({ ids: all })
    const { address } = world.m.market.accounts.stranger
    expect(await page(`?chain_id=${OTHER_CHAIN}&owner=${address}`)).toMatchObject({ ids: world.elsewhere })
  })

  it('is refused for a chain that is not served [AGENT-15]', async () => {
    const { status, body } = await list('?chain_id=999999999')
    expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })

  it('fails as an internal error [AGENT-16]', async () => {
    await world.m.withoutTable('market.agents', async () => {
      for (const query of ['?limit=7', `?owner=${world.owner.address}`]) {
        const { status, body } = await list(query)
        expect([status, body]).toEqual([500, { error: 'internal error' }])
      }
    })
  })
})

describe('the agents of an owner', () => {
  it('are found by an address in any case [AGENT-09]', async () => {
    const { address } = world.owner
    const digits = address.slice(2)
    for (const owner of [address, address.toLowerCase(), `0x${digits.toUpperCase()}`]) {
      const { ids, total } = await page(`?owner=${owner}`)
      expect([ids, total], owner).toEqual([[world.author, world.learned, world.plain], 3])
    }
  })

  it('come all at once: total is their number, page and limit are the usual ones [AGENT-10, AGENT-11, AGENT-12]', async () => {
    const { address } = world.owner
    const three = { ids: [world.author, world.learned, world.plain], total: 3, page: 1, limit: 20 }
    expect(await page(`?owner=${address}&limit=1&page=2`)).toEqual(three)
    expect(await page(`?owner=${address}&limit=500&page=9`)).toEqual(three)
    expect(await page(`?owner=${address}&limit=many&page=`)).toEqual(three)
  })

  it('are an empty list when there are none [AGENT-13]', async () => {
    const { status, body } = await list(`?owner=${NOBODY}`)
    expect([status, body]).toEqual([200, { agents: [], total: 0, page: 1, limit: 20 }])
  })

  it('are not looked for by what is no address [AGENT-14]', async () => {
    for (const owner of ['0x12', 'alice.eth', NOBODY.slice(2), `${NOBODY}00`, NOBODY.replace('A', 'G')]) {
      const { status, body } = await list(`?owner=${owner}`)
      expect([status, body], owner).toEqual([400, { error: 'invalid owner address' }])
    }
  })
})

describe('an agent of the list', () => {
  it('has all that it told, and nothing that only a single agent shows [AGENT-17, AGENT-18, AGENT-52]', async () => {
    const { owner, author } = world
    const entry = await entryOf(author)
    expect(entry).toEqual({
      agent_id: author,
      owner_address: getAddress(owner.address),
      agent_uri: CARD,
      payment_wallet: getAddress(owner.address),
      review_rank_repeat: 0.75,
      registered_at: expect.any(String),
      commission: EARNED,
    })
  })

  it('has its owner checksummed and its id as an integer, on every entry [AGENT-17, AGENT-18]', async () => {
    const agents = await everyEntry()
    for (const { agent_id, owner_address } of agents) {
      expect(Number.isInteger(agent_id)).toBe(true)
      expect(owner_address).toBe(getAddress(owner_address.toLowerCase()))
    }
    expect(agents.some(({ owner_address }) => owner_address !== owner_address.toLowerCase())).toBe(true)
  })

  it('lacks the keys of what is not set or not computed [AGENT-19, AGENT-20, AGENT-21, AGENT-22]', async () => {
    const { learned, plain, author } = world
    const always = ['agent_id', 'commission', 'owner_address', 'registered_at']
    const keysOf = async (agentId: number) => Object.keys((await entryOf(agentId)) ?? {}).sort()
    expect(await keysOf(learned)).toEqual(always)
    expect(await keysOf(plain)).toEqual([...always, 'payment_wallet', 'review_rank_one_off'].sort())
    expect(await keysOf(author)).toEqual(
      [...always, 'agent_uri', 'payment_wallet', 'review_rank_repeat'].sort(),
    )
    expect(await entryOf(plain)).toMatchObject({ review_rank_one_off: 0.5 })
  })

  it('has its moment in whole seconds of UTC [AGENT-23]', async () => {
    for (const { registered_at } of await everyEntry()) {
      expect(registered_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
  })

  it('has five integers of commission, always [AGENT-25, AGENT-26, AGENT-27, AGENT-28, AGENT-29, AGENT-30]', async () => {
    for (const { commission } of await everyEntry()) {
      expect(commission).toEqual({
        immediate: expect.any(Number),
        held_back_settled: expect.any(Number),
        held_back_pending: expect.any(Number),
        total_realized: expect.any(Number),
        total_potential: expect.any(Number),
      })
      expect(Object.values(commission).filter((amount) => !Number.isInteger(amount))).toEqual([])
    }
  })

  it('has realized no more than it could [AGENT-31, AGENT-32]', async () => {
    for (const { commission } of await everyEntry()) {
      const { held_back_settled = Infinity, total_realized = Infinity, total_potential = -1 } = commission
      expect(held_back_settled).toBeLessThanOrEqual(total_potential)
      expect(total_realized).toBeLessThanOrEqual(total_potential)
    }
    expect((await entryOf(world.author))?.commission).toEqual(EARNED)
  })

  it('that never earned has zeros [AGENT-33]', async () => {
    for (const agentId of [world.learned, world.plain])
      expect((await entryOf(agentId))?.commission).toEqual(NOTHING_EARNED)
  })
})
