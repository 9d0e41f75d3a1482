import { beforeEach, describe, expect, test } from 'vitest'
import { keyAt, type PaperContext, paperContext, SEED } from '../../test/context.ts'
import { Refused } from './refused.ts'
import { verifyToken } from './token.ts'

const NEW_SEED = 0xa2
const NEWER_SEED = 0xa3
const MARKET = 'https://market.test'

let paper: PaperContext
const verify = (token: string) => verifyToken(paper.context, paper.chain, token)

async function refusalOf(token: string): Promise<string> {
  const error = await verify(token).then(
    () => new Error('it was accepted'),
    (error: unknown) => error,
  )
  if (!(error instanceof Refused)) throw error
  return `${error.reason}: ${error.message}`
}

describe('a ref link', () => {
  beforeEach(async () => {
    paper = await paperContext()
  })

  test('tells its terms', async () => {
    expect(await verify(paper.till.attributionToken)).toMatchObject(paper.till.terms)
  })

  test('is refused when a byte of it was changed', async () => {
    const { attributionToken: token } = paper.till
    const at = token.length - 20
    const altered = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    expect(await refusalOf(altered)).toMatch(
      /^invalid_payment: the attribution token does not hold: .* ask for a fresh/,
    )
  })

  test.each(['', 'x', 'not a token', '🧀'])('is not %j', async (token) => {
    expect(await refusalOf(token)).toMatch(/^invalid_payment: the attribution token does not hold/)
  })

  test('of another chain is refused, whoever signed it', async () => {
    expect(await refusalOf(await paper.mint({ chainId: 1 }, NEW_SEED))).toMatch(
      /^invalid_payment: the attribution token is for chain 1 and the payment is on chain 84532/,
    )
  })

  test('of another router is refused', async () => {
    const splitRouter = '0x000000000000000000000000000000000000dEaD'
    expect(await refusalOf(await paper.mint({ splitRouter }))).toMatch(
      /^invalid_payment: the attribution token names the split router 0x0.*dEaD/,
    )
  })

  test('signed by a key that nobody trusts is refused', async () => {
    expect(await refusalOf(await paper.mint({}, NEW_SEED))).toMatch(/no trusted key has id/)
  })
})

test('the marketplace is not asked about keys that the configuration names', async () => {
  paper = await paperContext({ marketUrl: MARKET, keys: [SEED] })
  expect(await refusalOf(await paper.mint({}, NEW_SEED))).toMatch(/no trusted key has id/)
  expect(paper.market.asked).toEqual([])
})

test('links of the key before count too', async () => {
  paper = await paperContext({ keys: [NEW_SEED, SEED] })
  await verify(await paper.mint({}, SEED))
  await verify(await paper.mint({}, NEW_SEED))
  expect(await refusalOf(await paper.mint({}, NEWER_SEED))).toMatch(/no trusted key has id/)
})

describe('a key that the marketplace changes', () => {
  let signsWith: number
  beforeEach(async () => {
    paper = await paperContext({ marketUrl: MARKET, keys: [] })
    signsWith = SEED
    paper.market.answer = async () => {
      const { attestationPubKey } = await keyAt(signsWith)
      return Response.json({ chains: [{ chainId: 1 }, { chainId: 84_532, attestationPubKey }] })
    }
  })

  test('is not asked about while links name the one that is known', async () => {
    await verify(await paper.mint({}, SEED))
    expect(paper.market.asked).toEqual([])
  })

  test('is learnt with the first link that names it, and the one before still counts', async () => {
    signsWith = NEW_SEED
    await verify(await paper.mint({}, NEW_SEED))
    await verify(await paper.mint({}, SEED))
    expect(paper.market.asked.map(({ url }) => url)).toEqual([`${MARKET}/.well-known/referrer-agent`])
  })

  test('ends the links of the key before the last, known ones too', async () => {
    const oldest = await paper.mint({}, SEED)
    await verify(oldest)
    for (const seed of [NEW_SEED, NEWER_SEED]) {
      signsWith = seed
      paper.clock.now += 31_000
      await verify(await paper.mint({}, seed))
    }
    expect(await refusalOf(oldest)).toMatch(/no trusted key has id/)
  })

  test('is asked about now and then only, however many keys are made up', async () => {
    for (const seed of [1, 2, 3, 4])
      expect(await refusalOf(await paper.mint({}, seed))).toMatch(/no trusted key/)
    expect(paper.market.asked).toHaveLength(1)
  })

  test('is not learnt while the marketplace is silent, and refused links are tried again later', async () => {
    signsWith = NEW_SEED
    const { answer } = paper.market
    paper.market.answer = async () => {
      throw new TypeError('fetch failed')
    }
    const token = await paper.mint({}, NEW_SEED)
    expect(await refusalOf(token)).toMatch(/no trusted key/)
    paper.market.answer = answer
    paper.clock.now += 31_000
    await verify(token)
  })
})
