import { type EscrowDeposit, type Product, registerIdentity } from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { must } from '../http/caller.ts'
import { send } from '../http/chain.ts'
import { publishBuyerReview } from '../http/escrows.ts'
import { generic, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { ENDPOINT, publish, register, sell } from '../http/reviews.ts'
import { buyThrough, newcomer, type Person, type Review, write } from '../http/town.ts'
import { connectMcp, type McpCaller } from './client.ts'

let m: TestMarket
let mcp: McpCaller
let product: Product
let author: Person
let buyer: Person
/** A review by the author, with an approved proof. */
let link: Review

beforeAll(async () => {
  m = await startTestMarket()
  mcp = await connectMcp(m)
  // The first identity has the id 0, which some routes refuse.
  await registerIdentity(m.market, m.market.accounts.stranger)
  product = await sell(m, await openRecorded(m), 1, ENDPOINT)
  author = await newcomer(m)
  buyer = await newcomer(m)
  link = await write(m, author, product)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

const read = async (path: string) => must(m.call('GET', path))
const structured = async (name: string, args: object) => {
  const answer = await mcp.call(name, { ...args })
  if (answer.isError) throw new Error(`${name}: ${answer.text}`)
  return answer.structured
}
const refusal = async (name: string, args: object) => {
  const { isError, text } = await mcp.call(name, { ...args })
  return isError ? text : undefined
}

/** The buyer buys and publishes a review; its text is not registered yet. */
async function reviewed(content: string) {
  const deposit = await buyThrough(m, buyer, link)
  const body = await publishBuyerReview(m, buyer.owner, deposit, content)
  await m.indexed()
  return { deposit, body }
}

describe('the tools', () => {
  it('are in the list, with what they take and answer [MCP-16, MCP-17]', async () => {
    const { tools } = await mcp.client.listTools()
    const named = new Map(tools.map((tool) => [tool.name, tool]))
    for (const name of ['list_reviews', 'get_review', 'register_purchase_review', 'submit_review'])
      expect(named.get(name)?.outputSchema, name).toMatchObject({ type: 'object' })
    expect(named.get('register_purchase_review')?.inputSchema.required).toEqual(
      expect.arrayContaining(['review_id', 'escrow_id', 'content_json']),
    )
    expect(named.get('update_review_content')).toMatchObject({
      description: expect.stringContaining('After update_review_content_onchain'),
      inputSchema: { required: expect.arrayContaining(['review_id', 'content_json']) },
    })
    expect(named.get('list_reviews')?.annotations?.readOnlyHint).toBe(true)
    expect(named.get('submit_review')?.annotations?.readOnlyHint).toBe(false)
  })

  it('that read reviews answer as the routes do', async () => {
    const told = async (name: string, args: object) => {
      const { untrusted_text, ...answer } = await structured(name, { ...args })
      expect(untrusted_text).toContain('content_json')
      return answer
    }
    const { merchantId, productId } = product
    const { reviewId, internalId } = link
    expect(await told('list_reviews', {})).toEqual(await read('/v1/review?limit=20'))
    expect(await told('list_reviews', { page: '2', limit: 1 })).toEqual(
      await read('/v1/review?page=2&limit=1'),
    )
    const ofProduct = { merchant_id: Number(merchantId), product_id: productId }
    expect(await told('list_reviews', ofProduct)).toEqual(
      await read(`/v1/review?merchant_id=${merchantId}&product_id=${productId}`),
    )
    const shown = await read(`/v1/review/${reviewId}`)
    expect(shown.status).toBe('published')
    expect(await told('get_review', { review_id: Number(reviewId) })).toEqual(shown)
    expect(await told('get_review', { internal_id: internalId })).toEqual(shown)
  })

  it('that read reviews say what they need', async () => {
    for (const alone of [{ merchant_id: 3 }, { product_id: product.productId }])
      expect(await refusal('list_reviews', alone)).toBe(
        'merchant_id and product_id go together: invalid input',
      )
    expect(await refusal('list_reviews', { merchant_id: 3, product_id: '0x12' })).toBe(
      'invalid product_id: must be 32-byte hex: invalid input',
    )
    for (const ids of [{}, { review_id: 1, internal_id: 1 }])
      expect(await refusal('get_review', ids)).toBe('send either review_id or internal_id: invalid input')
    expect(await refusal('get_review', { review_id: 9_999 })).toBe('review 9999 not found: not found')
    expect(await refusal('get_review', { internal_id: 9_999 })).toBe('review 9999 not found: not found')
  })
})

describe('register_purchase_review', () => {
  it('brings a text as the route does, with the same answer [REV-92, MCP-99]', async () => {
    const { body } = await reviewed(generic(4, 'In time'))
    const answer = await structured('register_purchase_review', body)
    expect(answer).toEqual({
      ref_link: expect.stringContaining('/r/'),
      review_id: expect.any(Number),
      status: 'buyer_review_registered',
    })
    expect(await structured('get_review', { review_id: body.review_id })).toMatchObject({
      internal_id: answer.review_id,
      ref_link: answer.ref_link,
      content_json: { rating: 4, description: 'In time' },
    })
    expect(await must(register(m, body))).toEqual(answer)

    const content = generic(3, 'From the logs')
    const review_id = await publish(m.market, { ...author, product, content })
    await m.indexed()
    const proven = { review_id, escrow_id: 0, content_json: content }
    const byRoute = await must(register(m, proven))
    expect(await structured('register_purchase_review', proven)).toEqual(byRoute)
    expect(Object.keys(byRoute)).toEqual(['ref_link', 'review_id'])
  })

  it('says in full what was not found [REV-83]', async () => {
    const { body } = await reviewed(generic(4, 'Somewhere'))
    const other = await buyThrough(m, buyer, link)
    const escrow = Number(other.escrowId)
    const causes: [object, string][] = [
      [
        { ...body, escrow_id: 99_999 },
        'purchase for escrow 99999 not found (not yet indexed — retry shortly): not found',
      ],
      [{ ...body, escrow_id: escrow }, `review ${body.review_id} is not about escrow ${escrow}: not found`],
      [{ ...body, review_id: 99_999 }, 'review 99999 is not published: not found'],
      [
        { review_id: Number(link.reviewId), escrow_id: escrow, content_json: generic(5, 'As I saw it') },
        `review ${link.reviewId} is not about a purchase, escrow_id must be 0: not found`,
      ],
    ]
    for (const [args, text] of causes) {
      expect(await refusal('register_purchase_review', args)).toBe(text)
      expect(await register(m, args)).toMatchObject({ status: 404, body: { error: 'not found' } })
    }
    expect(await refusal('register_purchase_review', { ...body, content_json: { rating: 4 } })).toBe(
      'content_json must be a string: the exact JSON text of the review: invalid input',
    )
  })
})

describe('update_review_content', () => {
  const hashOf = ({ buyerAgentId: agentId, merchantId, productId }: EscrowDeposit, content: string) =>
    ContentHash.contentHash({ agentId, merchantId, productId, content })

  it('brings the text that was edited on the chain and no other, which is not shown before [SIGN-76]', async () => {
    const [before, after] = [generic(5, 'At first'), generic(1, 'In the end')]
    const { deposit, body } = await reviewed(before)
    const { review_id: internalId } = await structured('register_purchase_review', body)
    const [review_id, contentHash] = [body.review_id, hashOf(deposit, after)]
    const update = (content_json: string) => ({ review_id, content_json })
    const mismatch = `content hash mismatch: the text is not the one that review ${review_id} was published with: invalid input`
    expect(await refusal('update_review_content', update(after)), 'not edited yet').toBe(mismatch)

    await m.market.client.increaseTime({ seconds: 600 })
    const edit = call(m, buyer.owner, 'ReviewRegistry', 'editContent', [BigInt(review_id), contentHash])
    const { logs } = await send(m, edit)
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewContentEdited', logs })
    await m.indexed()
    const shown = () => structured('get_review', { review_id })
    expect((await shown()).content_json).toEqual(JSON.parse(before))
    for (const other of [before, generic(1, 'In the  end')])
      expect(await refusal('update_review_content', update(other))).toBe(mismatch)
    expect((await shown()).content_json).toEqual(JSON.parse(before))

    const answer = await structured('update_review_content', update(after))
    expect(answer).toEqual({
      review_id: internalId,
      status: 'updated',
      content_hash: contentHash,
      edited_at: expect.any(String),
    })
    expect(Date.parse(answer.edited_at)).toBe(Number(event?.args.editedAt) * 1_000)
    expect(await shown()).toMatchObject({
      internal_id: internalId,
      content_json: JSON.parse(after),
      satisfaction_score: 0,
      edited_at: answer.edited_at,
    })
    expect(await structured('update_review_content', update(after))).toEqual(answer)
  })

  it('has nothing to update where there was no text, or no review', async () => {
    const content_json = generic(3, 'Nobody brought this')
    const review_id = await publish(m.market, { ...author, product, content: content_json })
    await m.indexed()
    expect(await refusal('update_review_content', { review_id, content_json })).toMatch(
      new RegExp(`^the first text of review ${review_id} is not known; .*: conflict$`),
    )
    expect(await refusal('update_review_content', { review_id: 99_999, content_json })).toBe(
      'review 99999 is not published: not found',
    )
  })
})
