// The first moment at which a review published by the service is visible. No schedule runs here, so everything must
// be complete at that moment.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildListings } from '../../src/app/commands/rebuild-listings.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from '../http/caller.ts'
import { NO_WORK } from '../http/market.ts'
import { approved, argsOf, type Desk, review, signed, startDesk, submit } from './submitting.ts'

let desk: Desk

beforeAll(async () => {
  desk = await startDesk(NO_WORK)
})
afterAll(async () => {
  await desk.mcp.close()
  await desk.m.close()
})

const submitted = async (): Promise<number> => {
  const args = await signed(desk, argsOf(desk, await approved(desk)))
  return (await submit(desk, args)).structured.review_id
}
const ofProduct = () => {
  const { merchantId, productId } = desk.product
  return `/v1/review?merchant_id=${merchantId}&product_id=${productId}`
}
const LINK = expect.stringMatching(/\/r\/./)

it('a review that is published through the service has its link wherever it is shown', async () => {
  const { m } = desk
  const internalId = await submitted()
  const { reviews } = await until(async () => {
    const { body } = await m.call('GET', ofProduct())
    return body.reviews.length > 0 && body
  }, 'the review in the list of its product')
  expect(reviews).toEqual([expect.objectContaining({ internal_id: internalId, ref_link: LINK })])
  const all = await must(m.call('GET', '/v1/review'))
  expect(all.reviews).toEqual(reviews)
  expect(await must(m.call('GET', `/v1/review/${reviews[0].on_chain_id}`))).toMatchObject({ ref_link: LINK })
  expect(await review(desk, internalId)).toMatchObject({ status: 'published', ref_link: LINK })
  await rebuildListings(m.sql, m.chainId, new Date())
  const { products } = await must(m.call('GET', '/v1/discover?intent=anything'))
  expect(products[0].reviews).toEqual([
    expect.objectContaining({ internal_id: internalId, ref_link: reviews[0].ref_link }),
  ])
  // The link leads to the review.
  expect(await must(m.call('GET', new URL(reviews[0].ref_link).pathname))).toMatchObject({
    review_id: reviews[0].on_chain_id,
  })
})

it('a review of a product without an endpoint is shown without a link, and not held back', async () => {
  const { m } = desk
  await m.sql`UPDATE market.products SET endpoint_url = NULL`
  const internalId = await submitted()
  const shown = await until(async () => {
    const found = await review(desk, internalId)
    return found.status === 'published' && found
  }, 'the review on the chain')
  expect(shown).toMatchObject({ ref_link: '' })
  const { reviews } = await must(m.call('GET', ofProduct()))
  expect(reviews[0]).toMatchObject({ internal_id: internalId })
  expect(reviews[0]).not.toHaveProperty('ref_link')
})
