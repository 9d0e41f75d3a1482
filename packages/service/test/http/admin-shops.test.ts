// The shops that the operator has verified: who decides, what everybody can read, and how long it holds.
import { openMerchant } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdminDesk, startAdminDesk } from './admin.ts'
import { must } from './caller.ts'
import { transfer } from './chain.ts'
import { NO_WORK, type TestMarket } from './market.ts'

let desk: AdminDesk
let m: TestMarket
let token: string

beforeAll(async () => {
  // Nobody computes standings: the test writes them.
  desk = await startAdminDesk(NO_WORK)
  ;({ m, token } = desk)
})
afterAll(() => m.close())

async function newShop(): Promise<number> {
  const merchantId = Number(await openMerchant(m.market, m.market.accounts.merchant))
  await m.indexed()
  return merchantId
}

const decide = (
  merchantId: number | string,
  action: 'verify' | 'withdraw',
  body: unknown = { note: 'Known to us.' },
) => m.call('POST', `/admin/shops/${merchantId}/${action}`, { token, body })
const shops = async (query: string) => (await must(m.call('GET', `/admin/shops?${query}`, { token }))).shops
const shop = async (merchantId: number) => (await shops(`merchant_id=${merchantId}`))[0]
const read = async (query = '') => must(m.call('GET', `/v1/standing/verifications?${query}`))
const decisionsOn = async (merchantId: number) =>
  (await read()).verifications.filter((each: { merchant_id: number }) => each.merchant_id === merchantId)

describe('a shop', () => {
  it('is verified and withdrawn, with a note for everybody; a repeat changes nothing and says so', async () => {
    const merchantId = await newShop()
    const owner = m.market.accounts.merchant.address
    expect(await shop(merchantId)).toEqual({
      merchant_id: merchantId,
      owner,
      purchases: 0,
      revenue_usdc: 0,
      is_verified: false,
      note: null,
      decided_at: null,
      decided_by: null,
      standing: null,
    })
    const first = await must(decide(merchantId, 'verify'))
    expect(first).toEqual({
      merchant_id: merchantId,
      has_changed: true,
      is_verified: true,
      note: 'Known to us.',
      decided_at: expect.any(String),
    })
    expect(await must(decide(merchantId, 'verify', { note: 'Once more.' }))).toEqual({
      ...first,
      has_changed: false,
    })
    expect(await shop(merchantId)).toMatchObject({
      is_verified: true,
      note: 'Known to us.',
      decided_by: desk.admin.address,
    })
    expect(await must(decide(merchantId, 'withdraw', { note: 'It is gone.' }))).toMatchObject({
      has_changed: true,
      is_verified: false,
      note: 'It is gone.',
    })
    const decision = { verification_id: expect.any(Number), merchant_id: merchantId, owner }
    expect(await decisionsOn(merchantId)).toEqual([
      {
        ...decision,
        is_verified: true,
        is_in_force: false,
        note: 'Known to us.',
        decided_at: first.decided_at,
      },
      {
        ...decision,
        is_verified: false,
        is_in_force: true,
        note: 'It is gone.',
        decided_at: expect.any(String),
      },
    ])
    const done = desk.logged.filter(({ merchantId: about }) => about === String(merchantId))
    expect(done.map(({ admin, action }) => ({ admin, action }))).toEqual([
      { admin: desk.admin.address, action: 'shop verified' },
      { admin: desk.admin.address, action: 'verification withdrawn' },
    ])
  })

  it('that was never verified has nothing to withdraw', async () => {
    const merchantId = await newShop()
    expect(await must(decide(merchantId, 'withdraw'))).toMatchObject({ has_changed: false, note: null })
    expect(await decisionsOn(merchantId)).toEqual([])
  })

  it('that two admins verify at the same moment is verified once', async () => {
    const merchantId = await newShop()
    const both = await Promise.all([must(decide(merchantId, 'verify')), must(decide(merchantId, 'verify'))])
    expect(both.map(({ has_changed }) => has_changed).sort()).toEqual([false, true])
    expect(await decisionsOn(merchantId)).toHaveLength(1)
  })

  it('needs a note of 1 to 500 characters, and has to exist', async () => {
    const merchantId = await newShop()
    const refused = { status: 400, body: { error: 'note required' } }
    for (const body of [{}, { note: '' }, { note: '  ' }, { note: 'x'.repeat(501) }]) {
      expect(await decide(merchantId, 'verify', body)).toMatchObject(refused)
    }
    expect(await decide(merchantId, 'verify', { note: 'x'.repeat(500) })).toMatchObject({ status: 200 })
    expect(await decide(999_999, 'verify')).toMatchObject({ status: 404, body: { error: 'not found' } })
    // An agent is no shop.
    expect(await decide(desk.agentId, 'verify')).toMatchObject({ status: 404 })
    expect(await decide(-1, 'verify')).toMatchObject({ status: 400, body: { error: 'invalid merchant id' } })
  })

  it('that is sold is not verified any more, until it is verified again', async () => {
    const merchantId = await newShop()
    await must(decide(merchantId, 'verify'))
    const { merchant, stranger } = m.market.accounts
    await transfer(m, merchant, stranger.address, BigInt(merchantId))
    await m.indexed()
    expect(await decisionsOn(merchantId)).toMatchObject([{ is_verified: true, is_in_force: false }])
    expect(await must(decide(merchantId, 'withdraw'))).toMatchObject({
      has_changed: false,
      is_verified: false,
    })
    expect(await must(decide(merchantId, 'verify'))).toMatchObject({ has_changed: true, is_verified: true })
    expect(await decisionsOn(merchantId)).toMatchObject([
      { owner: merchant.address, is_in_force: false },
      { owner: stranger.address, is_in_force: true },
    ])
  })
})

describe('the list of shops', () => {
  it('has those that are verified, those that are not, or both, with their standing', async () => {
    const [one, two] = [await newShop(), await newShop()]
    await must(decide(one, 'verify'))
    await m.sql`
      INSERT INTO market.shop_standings (chain_id, merchant_id, standing, is_verified)
      VALUES (${m.chainId}, ${two}, 250000, false)`
    const ids = async (state: string) =>
      (await shops(`state=${state}&limit=100`)).map(({ merchant_id }: { merchant_id: number }) => merchant_id)
    expect(await ids('verified')).toContain(one)
    expect(await ids('verified')).not.toContain(two)
    expect(await ids('unverified')).toContain(two)
    expect(await ids('unverified')).not.toContain(one)
    expect(await ids('all')).toEqual(expect.arrayContaining([one, two]))
    expect(await shop(two)).toMatchObject({ standing: 250_000, is_verified: false })
    const pages = await Promise.all([1, 2].map((page) => shops(`limit=1&page=${page}`)))
    expect(pages.flat()).toEqual((await shops('limit=100')).slice(0, 2))
    expect(await m.call('GET', '/admin/shops?state=sold', { token })).toMatchObject({ status: 400 })
  })
})

describe('the decisions', () => {
  it('are read by everybody, page after page', async () => {
    for (let count = 0; count < 3; count++) await must(decide(await newShop(), 'verify'))
    const { verifications } = await read()
    const seen: unknown[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: { verifications: unknown[]; next_after: number | null } = await read(
        `after=${after}&limit=2`,
      )
      expect(page.verifications.length).toBeLessThanOrEqual(2)
      seen.push(...page.verifications)
      after = page.next_after
    }
    expect(seen).toEqual(verifications)
    expect(seen.length).toBeGreaterThan(2)
    expect(JSON.stringify(verifications)).not.toContain('decided_by')
  })
})
