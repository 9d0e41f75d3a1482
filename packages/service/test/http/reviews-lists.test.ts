import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generic, productOf, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { ENDPOINT, internalIdOf, KEYS, OUTCOMES, publish, registered, sell } from './reviews.ts'

const OTHER_CHAIN = 31_338
/** One more than is shown of a product. */
const MANY = 101
const INVALID_PRODUCT = [400, { error: 'invalid product_id: must be 32-byte hex' }]
const INVALID_MERCHANT = [400, { error: 'invalid merchant_id' }]
const UNKNOWN = productOf(77)

interface Listed {
  internal_id: number
  on_chain_id: number
  published_at: string
  ref_link?: string
}

let m: TestMarket
/** A product with links and many reviews, and one without links and with few. */
let crowded: Product
let quiet: Product
/** Internal ids, in the order in which the reviews were written; the first of the few was published last. */
let many: number[]
let few: number[]
/** Reviews of the quiet product: on the chain without a text, and with a text but on no chain. */
let unpublished: number[]

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, OTHER_CHAIN] })
  const { market } = m
  const { reviewer: owner, merchant } = market.accounts
  const merchantId = await openRecorded(m)
  const agentId = await registerIdentity(market, owner)
  crowded = await sell(m, merchantId, 1, ENDPOINT)
  quiet = await sell(m, merchantId, 2)
  const content = generic(5, 'Quick and right')
  const write = (product: Product) => publish(market, { owner, agentId, product, content })
  const ids = { many: [] as number[], few: [] as number[] }
  for (let count = 0; count < 3; count += 1) ids.few.push(await write(quiet))
  const silent = await write(quiet)
  for (let count = 0; count < MANY; count += 1) ids.many.push(await write(crowded))
  for (const { market: other } of m.chains.slice(1)) {
    const product = await sell({ ...m, market: other }, await openMerchant(other, merchant), 2)
    await publish(other, { owner, agentId: await registerIdentity(other, owner), product, content })
  }
  await m.indexed()
  const bring = (reviewIds: number[]) => Promise.all(reviewIds.map((id) => registered(m, id, content)))
  // The texts are registered in another order than that of publication.
  many = (await bring(ids.many.toReversed())).toReversed()
  few = await bring(ids.few)
  await registered(m, 1, content, `?chain_id=${OTHER_CHAIN}`)
  unpublished = [await internalIdOf(m, m.chainId, silent), await offChain(agentId, content)]
  await publishLast(few[0] ?? 0)
})
afterAll(() => m.close())

/** Inserts the record directly, because no event on a chain creates such a review. */
async function offChain(agentId: bigint, content: string): Promise<number> {
  const [row] = await m.sql<{ internal_id: bigint }[]>`
    INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content)
    VALUES (${m.chainId}, ${agentId}, ${quiet.merchantId}, ${Buffer.from(quiet.productId.slice(2), 'hex')}, '\\x00', 1, 9999, 0, ${content})
    RETURNING internal_id`
  return Number(row?.internal_id)
}

/** Reviews that the service publishes itself can have another order on the chain than in the records. */
async function publishLast(internalId: number): Promise<void> {
  await m.sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`UPDATE chain.reviews SET published_at = published_at + interval '1 hour' WHERE internal_id = ${internalId}`
  })
}

const list = (query = '') => m.call('GET', `/v1/review${query}`)
const ofProduct = ({ merchantId, productId }: Product, more = '') =>
  list(`?merchant_id=${merchantId}&product_id=${productId}${more}`)
const idsOf = (reviews: Listed[]) => reviews.map(({ internal_id }) => internal_id)
const newestRecords = () => [...few, ...many].sort((a, b) => b - a)
const published = () => few.length + many.length

describe('the list of all reviews', () => {
  it('is for everybody, and begins with the first hundred [REV-23, REV-24, REV-34, REV-36, REV-40]', async () => {
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['reviews', 'total', 'page', 'limit'])
    expect(body).toMatchObject({ total: published(), page: 1, limit: 100 })
    expect(body.reviews).toHaveLength(100)
  })

  it('has those that are published, of the chain that is asked for [REV-41, REV-42]', async () => {
    const { body } = await list('?limit=500')
    expect(idsOf(body.reviews).sort((a, b) => a - b)).toEqual([...few, ...many].sort((a, b) => a - b))
    for (const id of unpublished) expect(idsOf(body.reviews)).not.toContain(id)
    for (const review of body.reviews) expect(review.status).toBe('published')
    expect(body.total).toBe(published())
    expect((await list('?limit=1')).body).toMatchObject({ total: published(), reviews: [{}] })
    const other = (await list(`?chain_id=${OTHER_CHAIN}`)).body
    expect(other).toMatchObject({ total: 1, reviews: [{ on_chain_id: 1 }] })
    expect([...few, ...many]).not.toContain(other.reviews[0].internal_id)
  })

  it('has the newest records first, whenever they were published [REV-43]', async () => {
    const { reviews } = (await list('?limit=500')).body
    expect(idsOf(reviews)).toEqual(newestRecords())
  })

  it('goes on where the page before ended [REV-44]', async () => {
    const expected = newestRecords()
    const at = async (query: string) => idsOf((await list(query)).body.reviews)
    expect(await at('?limit=1&page=2')).toEqual([expected[1]])
    expect(await at('?page=2')).toEqual(expected.slice(100))
    const pages = [await at('?limit=40'), await at('?limit=40&page=2'), await at('?limit=40&page=3')]
    expect(pages.flat()).toEqual(expected)
    expect((await list('?limit=40&page=3')).body).toMatchObject({ total: published(), page: 3, limit: 40 })
  })

  it.each(['0', '-5'])('takes the page %s for the first [REV-35]', async (page) => {
    const { status, body } = await list(`?page=${page}&limit=2`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ page: 1, limit: 2 })
    expect(idsOf(body.reviews)).toEqual(newestRecords().slice(0, 2))
  })

  it.each([
    ['0', '[REV-37]'],
    ['-1', '[REV-37]'],
    ['501', '[REV-38]'],
    ['1000000', '[REV-38]'],
  ])('takes the limit %s for a hundred %s', async (limit) => {
    const { status, body } = await list(`?limit=${limit}`)
    expect(status).toBe(200)
    expect(body.limit).toBe(100)
    expect(body.reviews).toHaveLength(100)
  })

  it('keeps the least and the greatest limit [REV-39]', async () => {
    const [least, most] = [(await list('?limit=1')).body, (await list('?limit=500')).body]
    expect([least.limit, least.reviews.length]).toEqual([1, 1])
    expect([most.limit, most.reviews.length]).toEqual([500, published()])
  })

  it('is empty beyond the last page [REV-51]', async () => {
    const { status, body } = await list('?page=3')
    expect(status).toBe(200)
    expect(body).toEqual({ reviews: [], total: published(), page: 3, limit: 100 })
  })

  it.each(['page', 'limit'])('refuses a %s that is no number', async (name) => {
    const { status, body } = await list(`?${name}=abc`)
    expect([status, body]).toEqual([400, { error: `invalid ${name}` }])
  })

  it('refuses a chain that is not served [REV-32]', async () => {
    for (const { status, body } of [
      await list('?chain_id=999999999'),
      await ofProduct(quiet, '&chain_id=999999999'),
    ])
      expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })
})

describe('an entry of a list', () => {
  it('has a link only where there is one [REV-02, REV-11]', async () => {
    const [linked, bare] = [await ofProduct(crowded), await ofProduct(quiet)]
    expect(linked.body.reviews).toHaveLength(100)
    for (const review of linked.body.reviews) {
      expect(Object.keys(review)).toEqual(KEYS)
      expect(review.ref_link).toContain('/r/')
    }
    const withoutLink = KEYS.filter((key) => key !== 'ref_link')
    expect(bare.body.reviews).toHaveLength(few.length)
    for (const review of bare.body.reviews) expect(Object.keys(review)).toEqual(withoutLink)
    const all: Listed[] = (await list('?limit=500')).body.reviews
    const linkless = all.filter((review) => !('ref_link' in review))
    expect(idsOf(linkless)).toEqual(few.toReversed())
  })

  it('tells of a review what it is read as alone [REV-03, REV-05, REV-06, REV-07, REV-09, REV-10, REV-14, REV-15, REV-16, REV-17]', async () => {
    const { reviews } = (await list('?limit=500')).body
    expect(reviews).toHaveLength(published())
    for (const review of reviews) {
      expect([review.internal_id, review.on_chain_id].every(Number.isInteger)).toBe(true)
      expect([review.agent_id, review.merchant_id].every(Number.isInteger)).toBe(true)
      expect(review.product_id).toMatch(/^0x[0-9a-f]{64}$/)
      expect(review.content_json).toEqual({ rating: 5, description: 'Quick and right' })
      expect(OUTCOMES).toContain(review.comparison_outcome)
      expect(review).toMatchObject({ comparison_outcome: 'pending', status: 'published', edited_at: null })
    }
    const [newest] = reviews
    expect((await m.call('GET', `/v1/review/${newest.on_chain_id}`)).body).toEqual(newest)
  })
})

describe('the reviews of a product', () => {
  it('are told with the product, and without pages [REV-25, REV-28, REV-45]', async () => {
    const { status, body } = await ofProduct(quiet)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['reviews', 'merchant_id', 'product_id'])
    expect(body).toMatchObject({ merchant_id: 0, product_id: quiet.productId })
    expect(body.reviews).toHaveLength(few.length)
  })

  it.each([
    ['without its prefix', (id: string) => id.slice(2)],
    ['in capitals', (id: string) => `0x${id.slice(2).toUpperCase()}`],
  ])('are found by an id %s [REV-46]', async (_how, as) => {
    const productId = `0x${'ab'.repeat(32)}` as const
    for (const product of [quiet, { merchantId: 0n, productId }]) {
      const { status, body } = await list(`?merchant_id=0&product_id=${as(product.productId)}`)
      expect([status, body]).toEqual([200, (await ofProduct(product)).body])
      expect(body.product_id).toBe(product.productId)
    }
  })

  it('are those that are published, of the chain that is asked for, newest first [REV-47, REV-48]', async () => {
    const { reviews } = (await ofProduct(quiet)).body
    const [first, second, third] = few
    expect(idsOf(reviews)).toEqual([first, third, second])
    const times = reviews.map(({ published_at }: Listed) => Date.parse(published_at))
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a))
    const other = await ofProduct(quiet, `&chain_id=${OTHER_CHAIN}`)
    expect(other.body.reviews).toMatchObject([{ on_chain_id: 1 }])
  })

  it('are the newest hundred at most [REV-49]', async () => {
    const { reviews } = (await ofProduct(crowded)).body
    expect(idsOf(reviews)).toEqual(many.toReversed().slice(0, 100))
  })

  it('do not come in pages [REV-50]', async () => {
    const { text } = await ofProduct(quiet)
    for (const more of ['&limit=1&page=2', '&limit=0&page=0', '&limit=abc&page=abc']) {
      expect(await ofProduct(quiet, more)).toMatchObject({ status: 200, text })
    }
  })

  it('are none for a product or a merchant that nobody knows [REV-51]', async () => {
    for (const merchantId of [0n, 4_242n]) {
      const { status, body } = await ofProduct({ merchantId, productId: UNKNOWN })
      expect([status, body]).toEqual([
        200,
        { reviews: [], merchant_id: Number(merchantId), product_id: UNKNOWN },
      ])
    }
  })
})

describe('a list is refused', () => {
  it('for a merchant without a product [REV-26]', async () => {
    const { status, body } = await list('?merchant_id=1')
    expect([status, body]).toEqual(INVALID_PRODUCT)
  })

  it('for a product without a merchant [REV-27]', async () => {
    const { status, body } = await list(`?product_id=${quiet.productId}`)
    expect([INVALID_PRODUCT, INVALID_MERCHANT]).toContainEqual([status, body])
  })

  it.each([
    ['-1', '[REV-29]'],
    ['abc', '[REV-30]'],
    ['', '[REV-30]'],
    ['1.5', '[REV-30]'],
    ['9007199254740992', '[REV-30]'],
  ])('for the merchant "%s" %s', async (merchantId) => {
    const { status, body } = await list(`?merchant_id=${merchantId}&product_id=${quiet.productId}`)
    expect([status, body]).toEqual(INVALID_MERCHANT)
  })

  it.each(['0x12', '', '0x', 'abc', `0x${'zz'.repeat(32)}`, `${productOf(1)}00`, `0x${productOf(1)}`])(
    'for the product "%s" [REV-31]',
    async (productId) => {
      const { status, body } = await list(`?merchant_id=0&product_id=${productId}`)
      expect([status, body]).toEqual(INVALID_PRODUCT)
    },
  )

  it('when the records cannot be read [REV-33]', async () => {
    await m.withoutTable('market.reviews', async () => {
      for (const { status, body } of [await list(), await ofProduct(quiet)])
        expect([status, body]).toEqual([500, { error: 'internal error' }])
    })
  })
})
