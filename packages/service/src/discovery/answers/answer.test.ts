import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import type { Question } from '@referrer/search'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Source } from '../source.ts'
import { answerTo } from './answer.ts'
import {
  type Answer,
  first,
  MODEL,
  NOW,
  numbersOf,
  type SmallMarket,
  smallMarket,
  sourceOf,
} from './testing.ts'

const DAY_MS = 86_400_000

let database: TestDatabase
let chainId = 0
let market: SmallMarket

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
/** Each test has a chain of its own. */
beforeEach(async () => {
  chainId += 1
  market = smallMarket(database.sql, chainId)
  await market.agent(1, 1)
})

const slotsOf = (answer: Answer) =>
  first(answer).reviews?.map(({ slot, internal_id }) => [slot, BigInt(internal_id)])

describe('the slate of a product', () => {
  it('shows a review as it was written, with its link and what its score is made of', async () => {
    const id = await market.review({
      agentId: 7,
      description: 'Quick – and "right"',
      refToken: 'abc',
      publishedAt: new Date(NOW - 180 * DAY_MS),
      vector: [3, 4],
    })
    await market.rank(7, { repeat: 0.8, oneOff: 0.1 })
    await market.product(1, { reviews: [id] })
    const embed = async () => Int8Array.from([127, 0])
    const { reviews, mean_author_rank } = first(await market.ask({ embed }))
    expect(mean_author_rank).toBe(0.8)
    expect(reviews).toEqual([
      {
        slot: 'highlight',
        internal_id: Number(id),
        on_chain_id: 1,
        content_json: { rating: 5, description: 'Quick – and "right"' },
        ref_link: 'https://market.test/r/abc',
        published_at: '2025-12-17T12:00:00Z',
        author_rank: 0.8,
        relevance: 0.6,
        score: 0.5 * 0.8 + 0.35 * 0.6 + 0.15 * 0.5,
      },
    ])
  })

  it('goes by the rank for the type of the product, and begins at its base rate', async () => {
    const [known, unknown] = [await market.review({ agentId: 7 }), await market.review({ agentId: 8 })]
    await market.rank(7, { repeat: 0.9, oneOff: 0.2 })
    await market.product(1, { isOneOff: true, reviews: [known, unknown] })
    expect(first(await market.ask()).reviews).toMatchObject([
      { slot: 'highlight', author_rank: 0.2, ref_link: '' },
      { slot: 'newcomer', author_rank: 0.417 },
    ])
  })

  it('knows no relevance without a vector of the intent or of the review, or of another model', async () => {
    const reviews = [await market.review({ vector: [1, 0] }), await market.review()]
    await market.product(1, { reviews })
    const relevances = (answer: Answer) => first(answer).reviews?.map(({ relevance }) => relevance)
    const embed = async () => Int8Array.from([1, 0])
    expect(relevances(await market.ask({ embed }))).toEqual([0, 1])
    expect(relevances(await market.ask())).toEqual([0, 0])
    const source = { ...sourceOf([]), embedderId: 'test/other@1' }
    expect(relevances(await market.ask({ source, embed }))).toEqual([0, 0])
    const opposite = async () => Int8Array.from([-1, 0])
    expect(relevances(await market.ask({ embed: opposite }))).toEqual([0, 0])
  })

  it('excludes reviews of the merchant’s owner, now or when they were published, and of authors just sold', async () => {
    await market.agent(7, 1)
    await market.agent(9, 9, new Date(NOW - 7 * DAY_MS + 1))
    await market.agent(10, 10, new Date(NOW - 7 * DAY_MS))
    const reviews = [
      await market.review({ agentId: 7, authorOwner: 7 }),
      await market.review({ agentId: 8, authorOwner: 1 }),
      await market.review({ agentId: 9 }),
      await market.review({ agentId: 10 }),
    ]
    await market.product(1, { reviews })
    expect(first(await market.ask()).reviews).toMatchObject([
      { internal_id: Number(reviews[3]), slot: 'newcomer' },
      { internal_id: Number(reviews[0]), slot: 'excluded', excluded_reason: 'self_review' },
      { internal_id: Number(reviews[1]), slot: 'excluded', excluded_reason: 'self_review' },
      { internal_id: Number(reviews[2]), slot: 'excluded', excluded_reason: 'transfer_cooldown' },
    ])
  })

  it('has an overflow for those who ask for it only', async () => {
    const reviews: bigint[] = []
    for (let at = 0; at < 4; at += 1) reviews.push(await market.review())
    await market.product(1, { reviews })
    const [newcomer, ...others] = reviews
    const slotted = [
      ['highlight', others[0]],
      ['highlight', others[1]],
      ['newcomer', newcomer],
    ]
    expect(slotsOf(await market.ask())).toEqual(slotted)
    expect(slotsOf(await market.ask({}, { includeAll: true }))).toEqual([...slotted, ['overflow', others[2]]])
  })

  it('leaves out reviews that are not published', async () => {
    const [away, silent] = [await market.review({ isOnChain: false }), await market.review()]
    await database.sql`UPDATE market.reviews SET content = NULL WHERE internal_id = ${silent}`
    const reviews = [away, silent, 10n ** 15n]
    await market.product(1, { reviews, rank: 0.9 })
    expect(first(await market.ask()).reviews).toBeNull()
    const published = await market.review()
    await market.product(2, { reviews: [...reviews, published], rank: 1 })
    expect(slotsOf(await market.ask())).toEqual([['newcomer', published]])
  })

  it('has no link of a review that has another number on the chain than its link says', async () => {
    const id = await market.review({ refToken: 'abc' })
    await database.sql`UPDATE market.reviews SET ref_review_id = 999 WHERE internal_id = ${id}`
    await market.product(1, { reviews: [id] })
    expect(first(await market.ask()).reviews).toMatchObject([{ ref_link: '' }])
  })
})

describe('an intent', () => {
  /** The question that the source was asked. */
  async function questionOf(
    intent: string,
    embed = async (_: string) => Int8Array.from([1]),
  ): Promise<Question | undefined> {
    let asked: Question | undefined
    const find = async (_: number, question: Question) => {
      asked = question
      return []
    }
    await market.ask({ source: { ...sourceOf([]), find }, embed }, { intent, category: 'api', ceiling: 7 })
    return asked
  }

  it('is asked for with its vector, the filters and five to spare', async () => {
    expect(await questionOf('a city')).toEqual({
      intent: 'a city',
      vector: Int8Array.from([1]),
      category: 'api',
      ceiling: 7,
      limit: 10,
    })
  })

  it('counts up to its thousandth character', async () => {
    const intents: string[] = []
    const embed = async (intent: string) => {
      intents.push(intent)
      return Int8Array.from([1])
    }
    const question = await questionOf(`a${'🦊'.repeat(1_500)}`, embed)
    expect(question?.intent).toBe(`a${'🦊'.repeat(999)}`)
    expect(intents).toEqual([question?.intent])
  })

  it('of white space is nobody’s to find: rank decides', async () => {
    expect(await questionOf(' \t\0\n')).toBeUndefined()
    await market.product(1)
    expect(numbersOf(await market.ask({ source: sourceOf([]) }, { intent: '  ' }))).toEqual([1])
  })

  it('is asked for in words alone when the source went over to another model meanwhile', async () => {
    let embedderId = MODEL
    const questions: Question[] = []
    const source: Source = {
      get embedderId() {
        return embedderId
      },
      async find(_, question) {
        questions.push(question)
        return []
      },
      explain: async () => undefined,
    }
    const embed = async () => {
      embedderId = 'test/other@1'
      return Int8Array.from([1])
    }
    await market.ask({ source, embed })
    expect(questions).toMatchObject([{ vector: undefined }])
  })
})

describe('the database', () => {
  /** Counts the statements that are awaited. The first one that contains `lost` fails. */
  function counting(sql: Sql, lost?: string): { sql: Sql; count: () => number } {
    let count = 0
    let isLost = false
    const spy = new Proxy(sql, {
      apply(target, self, args) {
        const made: Promise<unknown> = Reflect.apply(target, self, args)
        if (!Array.isArray(args[0]) || !('raw' in args[0])) return made
        const wait = made.then.bind(made)
        const then = (...on: []) => {
          count += 1
          if (lost === undefined || isLost || !args[0].join('').includes(lost)) return wait(...on)
          isLost = true
          return Promise.reject(new Error('the connection was lost')).then(...on)
        }
        return Object.assign(made, { then })
      },
    })
    return { sql: spy, count: () => count }
  }

  const asked = () => ({
    intent: 'x',
    category: undefined,
    ceiling: undefined,
    most: 1,
    includeAll: true,
    isBrief: false,
    chainId,
  })
  const search = (source: Source) => ({ source, embed: async () => undefined })

  it('is asked as often for twenty products as for one', async () => {
    for (let number = 1; number <= 20; number += 1)
      await market.product(number, { reviews: [await market.review(), await market.review()] })
    const source = sourceOf(Array.from({ length: 20 }, (_, at) => [at + 1, 0.5]))
    const counts: number[] = []
    for (const most of [1, 20]) {
      const { sql, count } = counting(database.sql)
      const context = { ...market.context, sql }
      const answer: Answer = JSON.parse(await answerTo(context, search(source), { ...asked(), most }))
      expect(answer.products).toHaveLength(most)
      counts.push(count())
    }
    expect(counts).toEqual([3, 3])
  })

  it('is asked once more where reviews were read ahead of the wrong product, or in vain', async () => {
    await market.product(1, { isOpen: false, reviews: [await market.review()] })
    const id = await market.review()
    await market.product(2, { reviews: [id] })
    for (const { hits, lost } of [
      { hits: [1, 2], lost: undefined },
      { hits: [2], lost: 'shortlist' },
    ]) {
      const { sql, count } = counting(database.sql, lost)
      const source = sourceOf(hits.map((number) => [number, 0.5]))
      const text = await answerTo({ ...market.context, sql }, search(source), asked())
      expect(slotsOf(JSON.parse(text))).toEqual([['newcomer', id]])
      expect(count()).toBe(4)
    }
  })

  it('has the last word: when it fails, so does the answer', async () => {
    const answer = database.sql.begin(async (tx) => {
      await tx`ALTER TABLE market.listings RENAME TO elsewhere`
      await smallMarket(tx as unknown as Sql, chainId).ask()
    })
    await expect(answer).rejects.toThrow('market.listings')
  })
})
