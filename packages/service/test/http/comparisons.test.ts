import { mintUsdc, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import type { TestMarket } from './market.ts'
import {
  type BuyerReview,
  buyThrough,
  edit,
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
  type Town,
  tell,
  write,
} from './town.ts'

let town: Town
let m: TestMarket
let people: Person[]

beforeAll(async () => {
  town = await startTown()
  ;({ m } = town)
  people = []
  for (let count = 0; count < 12; count += 1) people.push(await newcomer(m))
})
afterAll(() => m.close())

const person = (at: number): Person => {
  const one = people[at]
  if (!one) throw new Error(`there is no person ${at}`)
  return one
}

/**
 * All buy at once: buyers who bought before the first buyer's review need not vote. Returns a function for each that
 * publishes its review.
 */
async function bought(link: Review, buyers: Person[], price = FULL_PRICE) {
  const tellers: ((rating: number) => Promise<BuyerReview>)[] = []
  for (const buyer of buyers) {
    const deposit = await buyThrough(m, buyer, link, { price })
    tellers.push((rating) => tell(m, buyer, deposit, rating))
  }
  return tellers
}

/** Publishes the reviews one after the other. */
async function all(tellers: ((rating: number) => Promise<BuyerReview>)[], ratings: number[]) {
  const told: BuyerReview[] = []
  for (const [at, tell] of tellers.entries()) told.push(await tell(ratings[at] ?? 5))
  return told
}

/** A new author's review of a new product. */
const newLink = async (rating: number, options: { oneOff?: boolean } = {}): Promise<Review> =>
  write(m, await newcomer(m), await newProduct(town, options), rating)

async function rankOf(person: Person, type: 'repeat' | 'one_off' = 'repeat') {
  await quiet(m)
  return (await readRank(m, person))[type]
}

async function outcomeOf({ reviewId, internalId }: Review): Promise<string> {
  await quiet(m)
  const { comparison_outcome } = await must(m.call('GET', `/v1/review/${reviewId}`))
  const record = await must(m.call('GET', `/v1/review-internal/${internalId}`))
  expect(record.comparison_outcome).toBe(comparison_outcome)
  return comparison_outcome
}

const comparisonOf = async ({ reviewId }: Review) => {
  await quiet(m)
  return must(m.call('GET', `/v1/review/${reviewId}/comparison`))
}

interface Opinion {
  owner: string
  review_id: number
  satisfaction: number
  size: number
  weight: number
}

interface Finding {
  outcome: string
  satisfaction: number
  mean: number | null
  others: number
  weight: number
  weighted: number
  size: number
  comparison: { comparison_id: number; voided_at?: string; opinions: Opinion[] } | null
}

/** Recomputes a finding from the public answer and the documented rules. */
function recomputed({ satisfaction, comparison }: Finding, authorOwner: string) {
  const others = comparison?.opinions.filter(({ owner }) => owner !== authorOwner) ?? []
  if (others.length < 3) return { outcome: 'pending', others: 0, weight: 0, weighted: 0, mean: null, size: 0 }
  const sum = (of: (opinion: Opinion) => number) => others.reduce((total, one) => total + of(one), 0)
  const weight = sum(({ size }) => Math.max(size, 1))
  const weighted = sum(({ size, satisfaction }) => Math.max(size, 1) * satisfaction)
  const isNear = Math.abs(satisfaction * weight - weighted) <= 250_000 * weight
  return {
    outcome: isNear ? 'confirmed' : 'contradicted',
    others: others.length,
    weight,
    weighted,
    mean: Math.round(weighted / weight),
    size: Math.floor(sum(({ size }) => size) / others.length),
  }
}

/** The findings of a review, oldest first, each compared with its recomputation. */
async function findingsOf(review: Review): Promise<Finding[]> {
  const { internal_id, comparison_outcome, findings } = await comparisonOf(review)
  expect(internal_id).toBe(review.internalId)
  expect(comparison_outcome).toBe(findings[0]?.outcome ?? 'pending')
  for (const finding of findings)
    expect(finding).toMatchObject(recomputed(finding, review.author.owner.address))
  return findings.reverse()
}

const outcomes = (findings: Finding[]) => findings.map(({ outcome }) => outcome)
const counted = (findings: Finding[]) => findings.map(({ comparison }) => comparison?.opinions.length)

describe('the outcome of a comparison', () => {
  it.each([
    ['as far as a quarter above their mean', 5, [4, 4, 4], 'confirmed'],
    ['further above', 5, [4, 4, 3], 'contradicted'],
    ['as far as a quarter below', 1, [1, 2, 3], 'confirmed'],
    ['further below', 1, [2, 2, 3], 'contradicted'],
  ])(
    'is found with the third buyer: %s [REV-14, REV-15, REV-16]',
    async (_title, rating, ratings, outcome) => {
      const link = await newLink(rating)
      const tellers = await bought(link, people.slice(0, 3))
      for (const [at, tell] of tellers.entries()) {
        expect(await outcomeOf(link)).toBe('pending')
        await tell(ratings[at] ?? 0)
      }
      expect(await outcomeOf(link)).toBe(outcome)
      expect(outcomes(await findingsOf(link))).toEqual([outcome])
    },
  )

  it("does not rest on the author's own owner, nor on the merchant, and on every owner once", async () => {
    const link = await newLink(5)
    const { owner } = link.author
    const { merchant } = m.market.accounts
    await mintUsdc(m.market, merchant.address, FULL_PRICE)
    const sibling = { owner, agentId: await registerIdentity(m.market, owner) }
    const ofSeller = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    const second = { owner: person(0).owner, agentId: await registerIdentity(m.market, person(0).owner) }
    const tellers = await bought(link, [ofSeller, person(0), second, person(1)])
    // A review of another author: for it, the owner of the first author counts like any other.
    const other = await write(m, person(11), link.product, 5)
    const [tellOwn] = await bought(other, [sibling])
    const both = async () => [await outcomeOf(link), await outcomeOf(other)]
    await all(tellers, [1, 5, 4, 5])
    expect(await both()).toEqual(['pending', 'pending'])
    await tellOwn?.(5)
    expect(await both()).toEqual(['pending', 'confirmed'])
    const [finding] = await findingsOf(other)
    const owners = finding?.comparison?.opinions.map(({ owner }) => owner)
    expect(owners?.sort()).toEqual([owner, person(0).owner, person(1).owner].map((o) => o.address).sort())
    // The newer opinion of the owner with two agents counts.
    expect(finding?.mean).toBe(916_667)
  })

  it('follows three full purchases and not three tiny ones', async () => {
    const link = await newLink(5)
    const tellers = [
      ...(await bought(link, people.slice(0, 3))),
      // A hundredth of the commission, almost none, and none at all.
      ...(await bought(link, people.slice(3, 4), FULL_PRICE / 100n)),
      ...(await bought(link, people.slice(4, 5), 10n)),
      ...(await bought(link, people.slice(5, 6), 9n)),
    ]
    await all(tellers.slice(0, 3), [5, 5, 4])
    expect(await outcomeOf(link)).toBe('confirmed')
    await all(tellers.slice(3), [1, 1, 1])
    expect(await outcomeOf(link)).toBe('confirmed')
    const slander = await write(m, person(11), link.product, 1)
    const [finding] = await findingsOf(slander)
    expect(finding).toMatchObject({
      outcome: 'contradicted',
      others: 6,
      weight: 3_010_101,
      weighted: 2_750_000_000_000,
      mean: 913_591,
      size: 501_683,
    })
    const opinions = finding?.comparison?.opinions.map(({ satisfaction, size, weight }) => [
      satisfaction,
      size,
      weight,
    ])
    expect(opinions?.sort()).toEqual(
      [
        [1_000_000, 1_000_000, 1_000_000],
        [1_000_000, 1_000_000, 1_000_000],
        [750_000, 1_000_000, 1_000_000],
        [0, 10_000, 10_000],
        [0, 100, 100],
        [0, 0, 1],
      ].sort(),
    )
  })

  it('is found again with twice as many opinions, and not in between', async () => {
    const link = await newLink(5)
    const tellers = await bought(link, people)
    await all(tellers.slice(0, 3), [5, 5, 5])
    expect(await outcomeOf(link)).toBe('confirmed')
    await all(tellers.slice(3, 5), [1, 1])
    expect(await outcomeOf(link)).toBe('confirmed')
    await tellers[5]?.(1)
    expect(await outcomeOf(link)).toBe('contradicted')
    await all(tellers.slice(6, 11), [5, 5, 5, 5, 5])
    expect(await outcomeOf(link)).toBe('contradicted')
    await tellers[11]?.(5)
    expect(await outcomeOf(link)).toBe('confirmed')
    const findings = await findingsOf(link)
    expect(outcomes(findings)).toEqual(['confirmed', 'contradicted', 'confirmed'])
    expect(counted(findings)).toEqual([3, 6, 12])
    expect(findings.map(({ mean }) => mean)).toEqual([1_000_000, 500_000, 750_000])
  })

  it('is found at once for a review that comes later, and again when it is edited', async () => {
    const link = await newLink(4)
    const tellers = await bought(link, people.slice(0, 4))
    const [first] = await all(tellers.slice(0, 3), [4, 4, 4])
    const late = await write(m, person(5), link.product, 1)
    expect(await outcomeOf(late)).toBe('contradicted')
    const ofBuyer = await tellers[3]?.(2)
    if (!ofBuyer || !first) throw new Error('all of them told')
    expect(await outcomeOf(ofBuyer)).toBe('contradicted')
    await edit(m, ofBuyer, 3)
    expect(await outcomeOf(ofBuyer)).toBe('confirmed')
    await edit(m, ofBuyer, 1)
    expect(await outcomeOf(ofBuyer)).toBe('contradicted')
    const findings = await findingsOf(ofBuyer)
    expect(findings.map(({ satisfaction }) => satisfaction)).toEqual([250_000, 500_000, 0])
    // Each review of these three buyers has only two other opinions.
    expect(await outcomeOf(first)).toBe('pending')
    expect(await findingsOf(first)).toEqual([])
  })

  it('is taken back when one of three opinions falls, and found again when it returns', async () => {
    const link = await newLink(5)
    await all(await bought(link, people.slice(0, 3)), [1, 1, 1])
    expect(await outcomeOf(link)).toBe('contradicted')
    expect(await rankOf(link.author)).toEqual(shownRank('repeat', 0, 3))
    await setFlag(m, person(1), 'flag')
    try {
      expect(await outcomeOf(link)).toBe('pending')
      expect(await rankOf(link.author)).toEqual(shownRank('repeat', 0))
    } finally {
      await setFlag(m, person(1), 'unflag')
    }
    expect(await outcomeOf(link)).toBe('contradicted')
    const [voided, none, live] = await findingsOf(link)
    expect(voided?.comparison).toHaveProperty('voided_at')
    expect(none?.comparison).toBeNull()
    expect(live?.comparison).not.toHaveProperty('voided_at')
  })
})

describe('what was found', () => {
  it('raises the rank of the author by two, as far as the purchases were in full, once for a product', async () => {
    const link = await newLink(5)
    const tellers = [
      ...(await bought(link, people.slice(0, 2))),
      ...(await bought(link, people.slice(2, 3), FULL_PRICE / 4n)),
    ]
    await all(tellers, [5, 5, 5])
    expect(await rankOf(link.author)).toEqual(shownRank('repeat', 2 * 0.75))
    const again = await write(m, link.author, link.product, 4)
    expect(await outcomeOf(again)).toBe('confirmed')
    expect(await rankOf(link.author)).toEqual(shownRank('repeat', 2 * 0.75))
    // A contradiction about the same product counts in addition.
    const wrong = await write(m, link.author, link.product, 1)
    expect(await outcomeOf(wrong)).toBe('contradicted')
    expect(await rankOf(link.author)).toEqual(shownRank('repeat', 2 * 0.75, 3 * 0.75))
  })

  it('lowers the rank by three, for the type of the product alone [RANK-13]', async () => {
    const link = await newLink(5, { oneOff: true })
    await all(await bought(link, people.slice(0, 3)), [1, 1, 2])
    expect(await outcomeOf(link)).toBe('contradicted')
    expect(await rankOf(link.author, 'one_off')).toEqual(shownRank('one_off', 0, 3))
    expect(await rankOf(link.author)).toEqual(shownRank('repeat', 0))
  })

  it('is worth nothing to an author whose owner owns the merchant', async () => {
    const link = await newLink(5)
    const { merchant } = m.market.accounts
    const ofSeller = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    await all(await bought(link, people.slice(0, 3)), [5, 5, 5])
    const praise = await write(m, ofSeller, link.product, 5)
    expect(await outcomeOf(praise)).toBe('confirmed')
    expect((await comparisonOf(praise)).findings).toMatchObject([{ outcome: 'confirmed', size: 0 }])
    expect(await rankOf(ofSeller)).toEqual(shownRank('repeat', 0))
  })

  it('is told of a review that was never compared, and of none that is not there', async () => {
    const link = await newLink(3)
    expect(await comparisonOf(link)).toMatchObject({ comparison_outcome: 'pending', findings: [] })
    for (const [id, status, error] of [
      ['999999', 404, 'review not found'],
      ['0', 400, 'invalid review id'],
      ['x', 400, 'invalid review id'],
      ['1?chain_id=999999999', 400, 'chain_id not configured'],
    ] as const) {
      const [path, query] = id.split('?')
      const answer = await m.call('GET', `/v1/review/${path}/comparison${query ? `?${query}` : ''}`)
      expect(answer).toMatchObject({ status, body: { error } })
    }
  })
})
