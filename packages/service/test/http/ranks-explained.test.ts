import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHistory, type History, type Product } from '../../src/derived/ranks/testing.ts'
import { NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { beginDay } from './town.ts'

const DAY_MS = 86_400_000
/** Ids beyond those that the market registers on its chain. */
const [AUTHOR, FLAGGED, EMPTY, VOTER] = [1_001, 1_002, 1_003, 1_010]

let m: TestMarket
let h: History
let reviews: bigint[]
let oneOffProduct: Product

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  beginDay(m)
  h = createHistory(m.sql, m.chainId)
  h.clock.now = Date.parse('2026-03-01T12:00:00.5Z')
  for (const agent of [AUTHOR, FLAGGED, EMPTY]) await h.agent(agent, agent)
  for (let voter = VOTER; voter < VOTER + 6; voter += 1) await h.agent(voter, voter)
  const [repeat, oneOff] = [await h.product(0, 1_900), await h.product(1, 1_900)]
  oneOffProduct = oneOff
  const vote = async (voter: number, review: bigint, weight: number) =>
    h.cast(await h.buy(repeat, voter), voter, [review], { weight })
  reviews = [await h.review(AUTHOR, repeat), await h.review(AUTHOR, oneOff)]
  const [first = 0n, second = 0n] = reviews
  for (let voter = VOTER; voter < VOTER + 6; voter += 1) {
    await vote(voter, first, 1_000_000 - (voter - VOTER) * 123_457)
    h.pass(voter % 2 === 0 ? 0 : 37)
  }
  await h.find(first, 'confirmed', 654_321)
  h.pass(11)
  await h.find(second, 'contradicted', 500_000)
  await vote(VOTER, second, 700_000)
  await vote(VOTER, await h.review(FLAGGED, repeat), 1_000_000)
  await h.flag(FLAGGED, true)
  h.pass(3)
  await h.follow()
})
afterAll(() => m.close())

const ask = (agent: number, query = '') =>
  m.call('GET', `/v1/review-rank/${agent}${query}`, { as: m.market.accounts.stranger })

interface Told {
  kind: string
  weight: number
  happened_at: string
  counts: number
}

/** Recomputes a rank from the public evidence and the half-life of 180 days. */
async function computeAgain(agent: number, type: string, limit: number): Promise<number | null> {
  const pieces: Told[] = []
  for (;;) {
    const { body } = await ask(agent, `?explain=true&limit=${limit}&offset=${pieces.length}`)
    const told = body.explain[type]
    pieces.push(...told.evidence)
    if (told.evidence.length > 0) continue
    expect(pieces).toHaveLength(told.evidence_total)
    const sum = (isLoss: boolean) =>
      pieces
        .filter(({ kind }) => (kind === 'contradicted') === isLoss)
        .reduce((all, { weight, happened_at, counts }) => {
          const age = (Date.parse(told.as_of) - Date.parse(happened_at.slice(0, 10))) / DAY_MS
          expect(counts).toBeCloseTo(weight * 0.5 ** (age / 180), 9)
          return all + counts
        }, 0)
    const [gain, loss] = [sum(false), sum(true)]
    expect([gain, loss]).toEqual([expect.closeTo(told.gain, 9), expect.closeTo(told.loss, 9)])
    const rank = (told.prior.gain + gain) / (told.prior.gain + told.prior.loss + gain + loss)
    return gain + loss < 0.5 ? null : rank
  }
}

describe('the explanation of a rank', () => {
  it.each(['repeat', 'one_off'])('lets anybody compute the rank again: %s', async (type) => {
    const { body } = await ask(AUTHOR, '?explain=true')
    expect(body[type].rank).toEqual(expect.any(Number))
    for (const limit of [2, 500]) {
      expect(await computeAgain(AUTHOR, type, limit)).toBeCloseTo(body[type].rank, 9)
    }
  })

  it('tells each piece of evidence, the newest first', async () => {
    const { body } = await ask(AUTHOR, '?explain=1')
    const { repeat, one_off } = body.explain
    expect(Object.keys(repeat)).toEqual([
      'as_of',
      'prior',
      'gain',
      'loss',
      'evidence_rank',
      'voiced_rank',
      'evidence_total',
      'evidence',
    ])
    expect(repeat).toMatchObject({ prior: { gain: 6, loss: 6 }, loss: 0, evidence_total: 7 })
    expect(one_off).toMatchObject({ prior: { gain: 5, loss: 7 }, evidence_total: 2 })
    expect(repeat.as_of).toBe(new Date(h.clock.now).toISOString().slice(0, 10))
    expect(repeat.evidence[0]).toEqual({
      kind: 'confirmed',
      review_id: Number(reviews[0]),
      weight: 1.308_642,
      happened_at: expect.stringMatching(/^2026-\d\d-\d\dT12:00:\d\d\.500Z$/),
      counts: expect.any(Number),
    })
    expect(repeat.evidence[1]).toEqual({
      kind: 'vote',
      review_id: Number(reviews[0]),
      voter_agent_id: VOTER + 5,
      voter_standing: null,
      shop_standing: null,
      weight: 0.382_715,
      happened_at: expect.any(String),
      counts: expect.any(Number),
    })
    const times = repeat.evidence.map(({ happened_at }: { happened_at: string }) => happened_at)
    expect(times).toEqual(times.toSorted().reverse())
  })

  it('is of what counts today, while the weights stay', async () => {
    const before = (await ask(AUTHOR, '?explain=true')).body
    h.pass(180)
    await h.follow()
    const after = (await ask(AUTHOR, '?explain=true')).body
    expect(after.explain.repeat.gain).toBeCloseTo(before.explain.repeat.gain / 2, 6)
    expect(after.explain.repeat.evidence[0].weight).toBe(before.explain.repeat.evidence[0].weight)
    expect(await computeAgain(AUTHOR, 'repeat', 500)).toBeCloseTo(after.repeat.rank, 9)
  })

  it('is empty for an agent without evidence, and there for one that is flagged', async () => {
    const { body } = await ask(EMPTY, '?explain=true')
    expect(body.explain.one_off).toEqual({
      as_of: new Date(Date.now() + m.clock.aheadMs).toISOString().slice(0, 10),
      prior: { gain: 5, loss: 7 },
      gain: 0,
      loss: 0,
      evidence_rank: null,
      voiced_rank: null,
      evidence_total: 0,
      evidence: [],
    })
    const flagged = (await ask(FLAGGED, '?explain=true')).body
    expect(flagged).toMatchObject({
      flagged: true,
      repeat: { rank: 0 },
      explain: { repeat: { evidence_total: 1 } },
    })
  })

  it('says that everything counts in full while no shop is verified', async () => {
    const { repeat, explain } = (await ask(AUTHOR, '?explain=true')).body
    expect(explain).toMatchObject({
      how: expect.stringMatching(/^No shop is verified/),
      standing: null,
      cover: null,
    })
    expect(explain.repeat).toMatchObject({ evidence_rank: repeat.rank, voiced_rank: repeat.rank })
  })

  it('takes a limit from 1 to 500 and an offset from 0, and refuses what is no number', async () => {
    const lengthOf = async (query: string) =>
      (await ask(AUTHOR, `?explain=true&${query}`)).body.explain.repeat.evidence.length
    expect(await lengthOf('limit=0')).toBe(1)
    expect(await lengthOf('limit=3')).toBe(3)
    expect(await lengthOf('limit=501')).toBe(7)
    expect(await lengthOf('offset=5')).toBe(2)
    expect(await lengthOf('offset=-5')).toBe(7)
    for (const name of ['limit', 'offset', 'explain']) {
      expect(
        await ask(AUTHOR, `?explain=true&${name}=x`.replace('explain=true&explain', 'explain')),
      ).toMatchObject({
        status: 400,
        body: { error: `invalid ${name}` },
      })
    }
  })

  it('is not told to those who do not ask for it', async () => {
    const plain = (await ask(AUTHOR)).text
    expect(JSON.parse(plain)).not.toHaveProperty('explain')
    for (const query of ['?explain=false', '?limit=3&offset=1', '?explain=0&limit=3'])
      expect((await ask(AUTHOR, query)).text, query).toBe(plain)
    const { explain: _, ...rest } = JSON.parse((await ask(AUTHOR, '?explain=true')).text)
    expect(JSON.stringify(rest)).toBe(plain)
  })

  it('shows the standing, the voice and the cover that lower the rank when shops are verified', async () => {
    const owner = 1_001
    const oldLink = await h.review(EMPTY, oneOffProduct)
    const voted = await h.review(AUTHOR, await h.product(0, 1_900))
    // The shop sells through the author's link for 3,000,000 of commission at rank 1.
    await h.buy(await h.product(0, 1_900), VOTER, {
      link: reviews[0] ?? 0n,
      price: 60_000_000n,
      commission: 3_000_000n,
    })
    const purchase = await h.buy(await h.product(0, 1_900), VOTER + 1, { link: oldLink })
    await h.cast(purchase, VOTER + 1, [voted], { weight: 900_000, supports: true })
    await m.sql`
      UPDATE market.votes SET voter_standing = 700000, shop_standing = 500000 WHERE review_internal_id = ${voted}`
    await h.stand({
      owners: { [owner]: 600_000 },
      shops: { 1900: { standing: 1_000_000, isVerified: true } },
    })
    await h.follow()
    const { repeat, explain } = (await ask(AUTHOR, '?explain=true')).body
    const voice = (0.6 / 0.8) ** 5
    expect(explain.how).toMatch(/^Shops are verified/)
    expect(explain.standing).toEqual({ standing: 0.6, voice: expect.closeTo(voice, 5) })
    const { gain, loss, prior, evidence_rank, voiced_rank } = explain.repeat
    expect(evidence_rank).toBeCloseTo((prior.gain + gain) / (prior.gain + prior.loss + gain + loss), 9)
    const voiced = gain * explain.standing.voice
    expect(voiced_rank).toBeCloseTo((prior.gain + voiced) / (prior.gain + prior.loss + voiced + loss), 9)
    expect(explain.cover).toEqual({
      support: expect.any(Number),
      sales: expect.any(Number),
      needed: expect.closeTo(1.26 * (explain.cover.sales + 100_000), 6),
      cover: expect.closeTo((explain.cover.support / explain.cover.needed) ** 2, 9),
    })
    expect(explain.cover.sales).toBeCloseTo(3_000_000, 3)
    expect(explain.cover.cover).toBeGreaterThan(0)
    expect(explain.cover.cover).toBeLessThan(1)
    expect(repeat.rank).toBeCloseTo(0.5 + (voiced_rank - 0.5) * explain.cover.cover, 9)
    expect(explain.repeat.evidence[0]).toMatchObject({ voter_standing: 0.7, shop_standing: 0.5 })
  })
})
