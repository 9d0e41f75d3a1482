import { mintUsdc, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { transfer } from './chain.ts'
import type { TestMarket } from './market.ts'
import {
  COLD_VOTE,
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

const HALF_LIFE_MS = 180 * 86_400_000
const COLD = shownRank('repeat', 0)

let m: TestMarket
/** Reviews whose links are bought through, one for each product type. */
let link: Review
let oneOffLink: Review
let voters: [Person, Person, Person, Person]

beforeAll(async () => {
  const town = await startTown()
  ;({ m } = town)
  const seller = await newcomer(m)
  link = await write(m, seller, await newProduct(town))
  oneOffLink = await write(m, seller, await newProduct(town, { oneOff: true }))
  voters = [await newcomer(m), await newcomer(m), await newcomer(m), await newcomer(m)]
})
afterAll(() => m.close())

/** A new author with a review of the repeat product, or of another. */
async function newAuthor(product = link.product): Promise<{ author: Person; review: Review }> {
  const author = await newcomer(m)
  return { author, review: await write(m, author, product) }
}

async function rankOf(person: Person, type: 'repeat' | 'one_off' = 'repeat') {
  await quiet(m)
  return (await readRank(m, person))[type]
}

describe('a vote', () => {
  it('of an agent without a rank counts by the base rate of the type, in that type alone [RANK-13, RANK-14, RANK-15, RANK-16, RANK-17, RANK-18]', async () => {
    const { author, review } = await newAuthor()
    const oneOff = await write(m, author, oneOffLink.product)
    await support(m, voters[0], link, [review])
    expect(await rankOf(author)).toEqual(shownRank('repeat', 0.625))
    expect(await rankOf(author, 'one_off')).toEqual(shownRank('one_off', 0))
    await support(m, voters[1], oneOffLink, [oneOff])
    expect(await rankOf(author, 'one_off')).toEqual(shownRank('one_off', 0.562_75))
    expect(await rankOf(author)).toEqual(shownRank('repeat', 0.625))
  })

  it('of a ranked agent counts by its rank at that moment, and keeps its weight', async () => {
    const voter = await newcomer(m)
    const reviews = [await write(m, voter, link.product), await write(m, voter, link.product)]
    for (const review of reviews) for (const other of voters) await support(m, other, link, [review])
    const evidence = 8 * COLD_VOTE.repeat
    expect(await rankOf(voter)).toEqual(shownRank('repeat', evidence))
    const { author, review } = await newAuthor()
    await support(m, voter, link, [review])
    const rank = (6 + evidence) / (12 + evidence)
    const weight = Math.round(1e6 * (0.25 + 0.75 * rank)) / 1e6
    expect(weight).toBeCloseTo(0.735_294, 9)
    expect(await rankOf(author)).toEqual(shownRank('repeat', weight))
    await setFlag(m, voters[0], 'flag')
    expect(await rankOf(voter)).toEqual(shownRank('repeat', 6 * COLD_VOTE.repeat))
    expect(await rankOf(author)).toEqual(shownRank('repeat', weight))
    await setFlag(m, voters[0], 'unflag')
  })

  it.each([
    ['half', 50_000n, 0.5 * COLD_VOTE.repeat],
    ['all and no more', 1_000_000n, COLD_VOTE.repeat],
    ['just enough for a rank', 80_000n, 0.5],
    // A commission of 7,999: 0.4999375, rounded to millionths.
    ['just too little for a rank', 79_990n, 0.499_938],
    ['nothing', 9n, 0],
  ])('counts by the commission of its purchase: %s [RANK-17, RANK-21]', async (_title, price, weight) => {
    const { author, review } = await newAuthor()
    await support(m, voters[0], link, [review], price)
    expect(await rankOf(author)).toEqual(shownRank('repeat', weight))
    await support(m, voters[1], link, [review])
    expect(await rankOf(author)).toEqual(shownRank('repeat', weight + COLD_VOTE.repeat))
  })

  it("counts once for an owner and a review: the newest, whichever of the owner's agents cast it", async () => {
    const { author, review } = await newAuthor()
    const [{ owner }] = voters
    const second = { owner, agentId: await registerIdentity(m.market, owner) }
    await support(m, voters[0], link, [review])
    await support(m, second, link, [review], FULL_PRICE / 2n)
    expect(await rankOf(author)).toEqual(shownRank('repeat', 0.3125))
    await support(m, voters[0], link, [review])
    expect(await rankOf(author)).toEqual(shownRank('repeat', 0.625))
  })

  it('counts among the newest three of an owner for an author, those of others beside', async () => {
    const { author, review } = await newAuthor()
    const more = [
      await write(m, author, link.product),
      await write(m, author, link.product),
      await write(m, author, link.product),
    ]
    // Descending weights: the rank shows which vote is not counted.
    const sizes = [1, 0.5, 0.25, 0.125]
    for (const [at, voted] of [review, ...more].entries()) {
      await support(m, voters[0], link, [voted], BigInt(100_000 * (sizes[at] ?? 0)))
    }
    const counted = (0.5 + 0.25 + 0.125) * COLD_VOTE.repeat
    expect(await rankOf(author)).toEqual(shownRank('repeat', counted))
    for (const voted of more) await support(m, voters[1], link, [voted])
    expect(await rankOf(author)).toEqual(shownRank('repeat', counted + 3 * COLD_VOTE.repeat))
  })

  it('counts once on a ballot for an owner: the first for one of its agents', async () => {
    const { author, review } = await newAuthor()
    const sibling = { owner: author.owner, agentId: await registerIdentity(m.market, author.owner) }
    const more = [await write(m, author, link.product), await write(m, sibling, link.product)]
    await support(m, voters[0], link, [review, ...more])
    expect(await rankOf(author)).toEqual(shownRank('repeat', COLD_VOTE.repeat))
    expect(await rankOf(sibling)).toEqual(COLD)
  })

  it("counts for nothing on a review of the voter's own owner, nor where voter or author owns the merchant", async () => {
    const { author, review } = await newAuthor()
    const { owner } = author
    const sibling = { owner, agentId: await registerIdentity(m.market, owner) }
    const { merchant } = m.market.accounts
    await mintUsdc(m.market, merchant.address, FULL_PRICE)
    const ofSeller = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    const praise = await write(m, ofSeller, link.product)
    const other = await newAuthor()
    await support(m, sibling, link, [review, other.review, praise])
    await support(m, ofSeller, link, [review, other.review])
    expect(await rankOf(ofSeller)).toEqual(COLD)
    expect(await rankOf(author)).toEqual(COLD)
    expect(await rankOf(other.author)).toEqual(shownRank('repeat', 0.625))
  })
})

describe('a flag', () => {
  it('takes the votes of an agent away, and gives them back with an end of its own', async () => {
    const { author, review } = await newAuthor()
    const voter = await newcomer(m)
    await support(m, voter, link, [review])
    await support(m, voters[0], link, [review])
    await setFlag(m, voter, 'flag')
    expect(await rankOf(author)).toEqual(shownRank('repeat', 0.625))
    const unheard = await newAuthor()
    await support(m, voter, link, [unheard.review])
    await setFlag(m, voter, 'unflag')
    expect(await rankOf(author)).toEqual(shownRank('repeat', 1.25))
    // Cast while the voter was flagged, so it never counts.
    expect(await rankOf(unheard.author)).toEqual(COLD)
  })

  it('of the author makes its rank 0, and leaves it out of the mean [RANK-19, RANK-22, RANK-35]', async () => {
    const { author, review } = await newAuthor()
    const oneOff = await write(m, author, oneOffLink.product)
    await support(m, voters[0], link, [review])
    await support(m, voters[0], oneOffLink, [oneOff])
    await quiet(m)
    const before = await readRank(m, author)
    expect(before).toMatchObject({ flagged: false, repeat: shownRank('repeat', 0.625) })
    await setFlag(m, author, 'flag')
    await quiet(m)
    const flagged = await readRank(m, author)
    const zero = { rank: 0, commission_multiplier_bps: 4_000, cold_start: false }
    expect(flagged).toMatchObject({ flagged: true, repeat: zero, one_off: zero })
    expect(await meansOfRanked()).toEqual({
      repeat: expect.closeTo(flagged.platform_mean_repeat, 9),
      one_off: expect.closeTo(flagged.platform_mean_one_off, 9),
    })
    await setFlag(m, author, 'unflag')
    await quiet(m)
    expect(await readRank(m, author)).toEqual(before)
    expect(before.platform_mean_repeat).not.toBeCloseTo(flagged.platform_mean_repeat, 6)
  })
})

/** The means over all ranked agents that are not flagged, computed one by one. */
async function meansOfRanked() {
  const { agents } = await must(m.call('GET', '/v1/agent?limit=500'))
  const ranks = { repeat: [] as number[], one_off: [] as number[] }
  for (const { agent_id } of agents) {
    const shown = await readRank(m, { agentId: agent_id })
    if (shown.flagged) continue
    for (const type of ['repeat', 'one_off'] as const) {
      if (shown[type].rank !== null) ranks[type].push(shown[type].rank)
    }
  }
  expect(ranks.repeat.length).toBeGreaterThan(3)
  const mean = (all: number[]) => all.reduce((sum, rank) => sum + rank, 0) / all.length
  return { repeat: mean(ranks.repeat), one_off: mean(ranks.one_off) }
}

describe('the mean rank', () => {
  it('is that of all who are ranked, the same in both answers [RANK-27, RANK-35]', async () => {
    await quiet(m)
    const means = await must(m.call('GET', '/v1/stats/mean-rank'))
    const computed = await meansOfRanked()
    expect(means.repeat).toBeCloseTo(computed.repeat, 9)
    expect(means.one_off).toBeCloseTo(computed.one_off, 9)
    expect(await readRank(m, voters[0])).toMatchObject({
      platform_mean_repeat: means.repeat,
      platform_mean_one_off: means.one_off,
    })
  })
})

describe('the rank of an agent that changes hands', () => {
  it('stays with the one who earned it, and is there again when the agent returns', async () => {
    const { author, review } = await newAuthor()
    const later = await newcomer(m)
    await support(m, voters[0], link, [review])
    await support(m, voters[1], link, [review])
    expect(await rankOf(author)).toEqual(shownRank('repeat', 1.25))
    await transfer(m, author.owner, later.owner.address, author.agentId)
    expect(await rankOf(author)).toEqual(COLD)

    const heir = { owner: later.owner, agentId: author.agentId }
    const own = await write(m, heir, link.product)
    await support(m, voters[2], link, [own])
    // A vote for a review of the former owner counts for that owner.
    await support(m, voters[3], link, [review])
    expect(await rankOf(heir)).toEqual(shownRank('repeat', 0.625))
    await transfer(m, later.owner, author.owner.address, author.agentId)
    expect(await rankOf(author)).toEqual(shownRank('repeat', 3 * 0.625))
  })
})

describe('evidence', () => {
  it('is worth half after 180 days, and too little of it is a cold start again', async () => {
    const lasting = await newAuthor()
    const fading = await newAuthor()
    for (const voter of voters.slice(0, 2)) await support(m, voter, link, [lasting.review])
    await support(m, voters[0], link, [fading.review])
    expect(await rankOf(lasting.author)).toEqual(shownRank('repeat', 1.25))
    expect(await rankOf(fading.author)).toEqual(shownRank('repeat', 0.625))
    m.clock.aheadMs += HALF_LIFE_MS / 2
    await support(m, voters[2], link, [lasting.review])
    expect(await rankOf(lasting.author)).toEqual(shownRank('repeat', 1.25 * 2 ** -0.5 + 0.625))
    m.clock.aheadMs += HALF_LIFE_MS / 2
    await expect.poll(() => rankOf(fading.author), { timeout: 50_000 }).toEqual(COLD)
    await expect
      .poll(() => rankOf(lasting.author), { timeout: 50_000 })
      .toEqual(shownRank('repeat', 0.625 + 0.625 * 2 ** -0.5))
  })
})
