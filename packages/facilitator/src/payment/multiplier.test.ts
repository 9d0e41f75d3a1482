import { Attribution, RequestSignature } from '@referrer/protocol'
import { zeroHash } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { type PaperContext, paperContext } from '../../test/context.ts'
import { multiplierNow } from './multiplier.ts'

const OWN = 7_000
const RANK = {
  repeat: { rank: 0.9, commission_multiplier_bps: 9_400, cold_start: false },
  one_off: { rank: null, commission_multiplier_bps: 6_500, cold_start: true },
  flagged: false,
}

let paper: PaperContext
const now = (change: Partial<Attribution.Attribution> = {}) =>
  multiplierNow(paper.context, paper.chain, {
    ...Attribution.from(paper.till.terms, { salt: zeroHash }),
    ...change,
  })

test('without a marketplace the link decides, and nothing is asked', async () => {
  paper = await paperContext()
  expect(await now()).toBe(OWN)
  expect(paper.market.asked).toEqual([])
  expect(paper.node.asked).toEqual([])
})

describe('the multiplier in force', () => {
  beforeEach(async () => {
    paper = await paperContext({ marketUrl: 'https://market.test' })
    paper.market.answer = async () => Response.json(RANK)
  })

  test.each([
    [0, 9_400],
    [1, 6_500],
  ] as const)('is the one of the product type %i', async (productType, expected) => {
    paper.node.productType = productType
    expect(await now()).toBe(expected)
  })

  test('is asked for with a signature of the relayer', async () => {
    await now()
    const [request] = paper.market.asked
    if (!request) throw new Error('nothing was asked')
    expect(request.url).toBe('https://market.test/v1/review-rank/5?chain_id=84532')
    const signature = RequestSignature.parse(request.headers)
    const signer = await RequestSignature.verify({ ...signature, body: '' }, paper.clock.now / 1_000)
    expect(signer).toBe(paper.chain.relayers[0].address)
  })

  test('is remembered for half a minute, by agent', async () => {
    await now()
    paper.clock.now += 29_000
    await now()
    expect(paper.market.asked).toHaveLength(1)
    paper.clock.now += 2_000
    await now()
    expect(paper.market.asked).toHaveLength(2)
    await now({ reviewerAgentId: 6n })
    expect(paper.market.asked).toHaveLength(3)
    expect(paper.node.asked).toHaveLength(1)
  })

  test('is asked for once by payments that come together', async () => {
    expect(await Promise.all([now(), now(), now()])).toEqual([9_400, 9_400, 9_400])
    expect(paper.market.asked).toHaveLength(1)
  })

  test.each([
    ['refuses', async () => Response.json({ error: 'unauthorized' }, { status: 401 })],
    ['talks nonsense', async () => new Response('<html>')],
    ['tells a multiplier that no rank gives', async () => rankOf(10_001)],
    ['tells another', async () => rankOf(3_999)],
    [
      'cannot be reached',
      async () => {
        throw new TypeError('fetch failed')
      },
    ],
  ])('is that of the link when the marketplace %s', async (_, answer: () => Promise<Response>) => {
    paper.market.answer = answer
    expect(await now()).toBe(OWN)
  })

  test('is that of the link when no node tells the type of the product', async () => {
    paper.node.isDown = true
    expect(await now()).toBe(OWN)
    paper.node.isDown = false
    expect(await now()).toBe(9_400)
  })

  test('is that of the link until the product is listed, since only then it has a type', async () => {
    paper.node.isListed = false
    expect(await now()).toBe(OWN)
    paper.node.isListed = true
    paper.node.productType = 1
    expect(await now()).toBe(6_500)
  })

  test('is asked for again soon after a failure, but not by every payment', async () => {
    paper.market.answer = async () => new Response('', { status: 500 })
    await now()
    paper.market.answer = async () => Response.json(RANK)
    expect(await now()).toBe(OWN)
    paper.clock.now += 6_000
    expect(await now()).toBe(9_400)
    expect(paper.market.asked).toHaveLength(2)
  })

  test('does not hold a payment up: a late answer serves those that come after', async () => {
    const late = Promise.withResolvers<Response>()
    paper.market.answer = () => late.promise
    expect(await now()).toBe(OWN)
    late.resolve(Response.json(RANK))
    await expect.poll(() => now()).toBe(9_400)
    expect(paper.market.asked).toHaveLength(1)
  })
})

const rankOf = (bps: number) =>
  Response.json({ repeat: { commission_multiplier_bps: bps }, one_off: { commission_multiplier_bps: bps } })
