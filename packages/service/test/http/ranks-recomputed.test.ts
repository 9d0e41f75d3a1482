import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transfer } from './chain.ts'
import type { TestMarket } from './market.ts'
import {
  buyAndTell,
  FULL_PRICE,
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  readRank,
  setFlag,
  shownRank,
  startTown,
  support,
  write,
} from './town.ts'

const DAY_MS = 86_400_000
const TYPES = ['repeat', 'one_off'] as const

let m: TestMarket
let author: Person
/**
 * Reviews of the author: one voted for on three days, one confirmed, one contradicted, and one of a one-off product.
 */
let voted: Review
let confirmed: Review
let contradicted: Review
let oneOff: Review
let voters: [Person, Person, Person]

beforeAll(async () => {
  const town = await startTown()
  ;({ m } = town)
  author = await newcomer(m)
  voters = [await newcomer(m), await newcomer(m), await newcomer(m)]
  const seller = await newcomer(m)
  const link = await write(m, seller, await newProduct(town))
  voted = await write(m, author, link.product)
  confirmed = await write(m, author, await newProduct(town), 5)
  contradicted = await write(m, author, await newProduct(town), 5)
  const oneOffLink = await write(m, seller, await newProduct(town, { oneOff: true }))
  oneOff = await write(m, author, oneOffLink.product)
  await buyAndTell(m, confirmed, [
    [voters[0], 5],
    [voters[1], 4],
    [voters[2], 5, FULL_PRICE / 4n],
  ])
  // The findings must come before the vote.
  await quiet(m)
  await support(m, voters[0], link, [voted])
  await quiet(m)
  m.clock.aheadMs += 10 * DAY_MS
  await buyAndTell(m, contradicted, [
    [voters[0], 1],
    [voters[1], 1],
    [voters[2], 1],
  ])
  await quiet(m)
  await support(m, voters[1], link, [voted])
  await quiet(m)
  m.clock.aheadMs += 35 * DAY_MS
  await support(m, voters[2], link, [voted], FULL_PRICE / 2n)
  await support(m, voters[2], oneOffLink, [oneOff])
  await quiet(m)
})
afterAll(() => m.close())

interface Piece {
  kind: 'vote' | 'confirmed' | 'contradicted'
  review_id: number
  voter_agent_id?: number
  weight: number
  happened_at: string
  counts: number
}

interface Explanation {
  as_of: string
  prior: { gain: number; loss: number }
  gain: number
  loss: number
  evidence_total: number
  evidence: Piece[]
}

const explained = () => readRank(m, author, '?explain=true')

const dayOf = (time: string) => Math.floor(Date.parse(time) / DAY_MS)

/** The rank from the list of evidence alone. */
function recomputed({ as_of, prior, evidence }: Explanation) {
  let [gain, loss] = [0, 0]
  for (const { kind, weight, happened_at } of evidence) {
    const counts = weight * 2 ** (-(dayOf(as_of) - dayOf(happened_at)) / 180)
    if (kind === 'contradicted') loss += counts
    else gain += counts
  }
  const rank = gain + loss < 0.5 ? null : (prior.gain + gain) / (prior.gain + prior.loss + gain + loss)
  return { gain, loss, rank }
}

describe('a rank that is explained', () => {
  it('can be computed again from its evidence alone', async () => {
    const answer = await explained()
    for (const type of TYPES) {
      const explanation: Explanation = answer.explain[type]
      expect(explanation.as_of).toBe(new Date(Date.now() + m.clock.aheadMs).toISOString().slice(0, 10))
      expect(explanation.evidence_total).toBe(explanation.evidence.length)
      const { gain, loss, rank } = recomputed(explanation)
      expect(explanation.gain).toBeCloseTo(gain, 9)
      expect(explanation.loss).toBeCloseTo(loss, 9)
      expect(answer[type]).toEqual(shownRank(type, gain, loss))
      expect(answer[type].rank).toBeCloseTo(rank ?? -1, 9)
      for (const { weight, happened_at, counts } of explanation.evidence) {
        const age = dayOf(explanation.as_of) - dayOf(happened_at)
        expect(counts).toBeCloseTo(weight * 2 ** (-age / 180), 9)
      }
    }
  })

  it('names every vote and every finding, newest first, with what it was worth', async () => {
    const { repeat, one_off } = (await explained()).explain
    const vote = (review: Review, at: 0 | 1 | 2, weight: number) => ({
      kind: 'vote',
      review_id: review.internalId,
      voter_agent_id: Number(voters[at].agentId),
      voter_standing: null,
      shop_standing: null,
      weight,
    })
    const pieces = ({ evidence }: Explanation) =>
      evidence.map(({ counts: _counts, happened_at: _at, ...piece }) => piece)
    expect(repeat.prior).toEqual({ gain: 6, loss: 6 })
    expect(pieces(repeat)).toEqual([
      vote(voted, 2, 0.3125),
      vote(voted, 1, 0.625),
      { kind: 'contradicted', review_id: contradicted.internalId, weight: 3 },
      vote(voted, 0, 0.625),
      { kind: 'confirmed', review_id: confirmed.internalId, weight: 1.5 },
    ])
    expect(one_off.prior).toEqual({ gain: 5, loss: 7 })
    expect(pieces(one_off)).toEqual([vote(oneOff, 2, 0.562_75)])
    const days = repeat.evidence.map(({ happened_at }: Piece) => dayOf(repeat.as_of) - dayOf(happened_at))
    expect(days).toEqual([0, 35, 35, 45, 45])
  })

  it('stands in the description of the interface', async () => {
    const { paths, components } = (await m.call('GET', '/openapi.json')).body
    const { parameters } = paths['/v1/review-rank/{id}'].get
    const names = parameters.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['explain', 'limit', 'offset']))
    const { ReviewRank } = components.schemas
    expect(ReviewRank.properties).toHaveProperty('explain')
    expect(ReviewRank.required).not.toContain('explain')
  })

  it('is that of the present owner, and of a flagged agent still tells what there is', async () => {
    const before = await explained()
    await setFlag(m, author, 'flag')
    await quiet(m)
    const flagged = await explained()
    expect(flagged).toMatchObject({ flagged: true, repeat: { rank: 0 }, one_off: { rank: 0 } })
    expect(flagged.explain).toEqual(before.explain)
    await setFlag(m, author, 'unflag')
    await transfer(m, author.owner, voters[0].owner.address, author.agentId)
    await quiet(m)
    const { repeat, explain } = await explained()
    expect(repeat).toEqual(shownRank('repeat', 0))
    expect(explain.repeat).toMatchObject({ gain: 0, loss: 0, evidence_total: 0, evidence: [] })
    await transfer(m, voters[0].owner, author.owner.address, author.agentId)
    await quiet(m)
    expect(await explained()).toEqual(before)
  })
})
