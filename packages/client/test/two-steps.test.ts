// Votes and the cashback rate: both steps against a whole service, and against markets that lie about what is to be signed.
import { Commitment } from '@referrer/protocol'
import { createWalletClient, custom, type EIP1193Provider } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ballotOf, startVoting, type Voting, votesCast } from '../../service/test/http/voting.ts'
import { type Ballot, createReferrerClient, type ReferrerClientOptions } from '../src/index.ts'
import { commitmentOf } from '../src/two-steps.ts'
import { clientOf, thrown } from './world.ts'

let v: Voting

beforeAll(async () => {
  v = await startVoting()
})
afterAll(() => v?.m.close())

const ballot = async () => ballotOf(v, (await v.bought()).escrowId) as unknown as Ballot
const pledge = (bps: number) => ({
  reviewer_agent_id: Number(v.buyer.agentId),
  cashback_of_commission_bps: bps,
})
const RATE_SET = { status: 'set' }

describe('castVotes', () => {
  it('casts in one call what takes two steps, once for a purchase', async () => {
    const market = clientOf(v.m, { account: v.buyer.owner })
    const body = await ballot()
    const before = await votesCast(v.m, v.buyer.agentId)
    expect(await market.castVotes(body)).toEqual({ status: 'ok', votes_recorded: 1 })
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before + 1)
    expect(await thrown(market.castVotes(body))).toMatchObject({
      status: 409,
      reason: expect.stringContaining('votes already submitted'),
    })
  })

  it('takes three votes, with any characters', async () => {
    const market = clientOf(v.m, { account: v.buyer.owner, chainId: v.m.chainId })
    const votes = v.others.map(({ internalId }, at) => ({
      review_id: internalId,
      reasoning: ['Ünïcode “and” 💸', 'a\nb "c" \\', 'plain'][at] as string,
    }))
    expect(await market.castVotes({ ...(await ballot()), votes })).toMatchObject({ votes_recorded: 3 })
  })

  it("says what the market has against it, in the market's words", async () => {
    const market = clientOf(v.m, { account: v.buyer.owner })
    const body = { ...(await ballot()), votes: [] }
    expect(await thrown(market.castVotes(body))).toMatchObject({
      status: 400,
      reason: 'votes must contain 1–3 items, got 0: invalid input',
    })
    const { stranger } = v.m.market.accounts
    expect(await thrown(clientOf(v.m, { account: stranger }).castVotes(await ballot()))).toMatchObject({
      status: 403,
      reason: 'not authorized',
    })
  })

  it('is not sent again when the answer to step 2 is lost', async () => {
    let sent = 0
    const market = clientOf(v.m, {
      account: v.buyer.owner,
      url: v.m.service.url,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        if (!String(input).includes('step2')) return response
        sent++
        throw new TypeError('fetch failed')
      },
    })
    const [body, before] = [await ballot(), await votesCast(v.m, v.buyer.agentId)]
    expect(await thrown(market.castVotes(body))).toMatchObject({ status: 0, route: 'POST /v1/votes/step2' })
    expect(sent).toBe(1)
    // It had arrived: a second one would have been refused, and the caller would believe that nothing was recorded.
    expect(await votesCast(v.m, v.buyer.agentId)).toBe(before + 1)
  })
})

describe('setCashbackRate', () => {
  it('sets the rate, by an account', async () => {
    expect(await clientOf(v.m, { account: v.buyer.owner }).setCashbackRate(pledge(2_500))).toEqual(RATE_SET)
    const market = clientOf(v.m, { account: v.buyer.owner })
    const digest = await market.get('/v1/agent/{id}/context', {
      params: { path: { id: Number(v.buyer.agentId) } },
    })
    expect(digest.global_cashback_of_commission_bps).toBe(2_500)
  })

  it('sets the rate, by a wallet, which is asked for a session and for the commitment', async () => {
    const asked: string[] = []
    const request = (call: { method: string }) => {
      if (/sign/i.test(call.method)) asked.push(call.method)
      return v.m.market.client.request(call as Parameters<typeof v.m.market.client.request>[0])
    }
    const provider = { request } as unknown as EIP1193Provider
    const wallet = createWalletClient({ account: v.buyer.owner.address, transport: custom(provider) })
    expect(await clientOf(v.m, { wallet }).setCashbackRate(pledge(1_000))).toEqual(RATE_SET)
    expect(asked).toEqual(['personal_sign', 'eth_signTypedData_v4'])
  })

  it('needs more than a session: the owner signs', async () => {
    const session = await clientOf(v.m, { account: v.buyer.owner }).signIn()
    const market = clientOf(v.m, { session })
    expect(await thrown(market.setCashbackRate(pledge(1)))).toMatchObject({
      status: 0,
      reason: 'the owner of the agent has to sign',
    })
    expect(market.asked).toEqual([])
  })

  it('refuses a chain that the market does not work on', async () => {
    const market = clientOf(v.m, { account: v.buyer.owner, chainId: 1 })
    await expect(market.setCashbackRate(pledge(1))).rejects.toThrow('the market does not work on chain 1')
  })
})

describe('a market that lies about what is to be signed', () => {
  type Step1 = { commitment: Commitment.Commitment; nonce: string; expiry: number }

  /** The service with another answer to step 1; nothing may be signed, nor sent on. */
  async function lied(
    change: (told: Step1) => unknown,
    options: Partial<ReferrerClientOptions> = {},
    act: 'votes' | 'rate' = 'votes',
  ) {
    const signed: unknown[] = []
    const paths: string[] = []
    const { owner } = v.buyer
    const market = createReferrerClient({
      url: v.m.service.url,
      account: {
        address: owner.address,
        signMessage: owner.signMessage,
        signTypedData: async (typed: never) => {
          signed.push(typed)
          return owner.signTypedData(typed)
        },
      },
      fetch: async (input, init) => {
        paths.push(new URL(String(input)).pathname)
        const response = await fetch(input, init)
        if (!String(input).includes('step1')) return response
        return Response.json(change((await response.json()) as Step1))
      },
      ...options,
    })
    const work = act === 'votes' ? market.castVotes(await ballot()) : market.setCashbackRate(pledge(500))
    const error = await thrown(work)
    expect(error).toMatchObject({ name: 'ReferrerError', reason: 'the market asks to sign something else' })
    expect(signed).toEqual([])
    expect(paths.some((path) => path.includes('step2'))).toBe(false)
    return error.detail
  }

  const message = (fields: object) => (told: Step1) => ({
    ...told,
    ...('expiry' in fields && { expiry: fields.expiry }),
    commitment: { ...told.commitment, message: { ...told.commitment.message, ...fields } },
  })
  const domain = (fields: object) => (told: Step1) => ({
    ...told,
    commitment: { ...told.commitment, domain: { ...told.commitment.domain, ...fields } },
  })
  const OTHER = `0x${'22'.repeat(20)}`

  it.each<[string, (told: Step1) => unknown, string]>([
    ['another agent', message({ agentId: '999' }), 'agentId is 999, and should be 0'],
    ['another purchase', message({ escrowId: '999' }), 'escrowId is 999'],
    ['other votes', message({ votesHash: `0x${'ab'.repeat(32)}` }), 'votesHash is 0xabab'],
    ['a nonce that is not the one beside', message({ nonce: `0x${'ab'.repeat(32)}` }), 'nonce is 0xabab'],
    ['a year', message({ expiry: Math.floor(Date.now() / 1_000) + 31_536_000 }), 'it would be valid for'],
    ['another chain', domain({ chainId: 1 }), 'chainId is 1, and should be 31337'],
    ['another contract', domain({ verifyingContract: OTHER }), `verifyingContract is ${OTHER}`],
    ['another domain', domain({ name: 'USD Coin' }), 'VoteCommitment'],
    ['another field', message({ value: '1' }), 'VoteCommitment'],
    ['nothing', () => ({}), 'commitment'],
    ['no object', () => null, 'commitment'],
    ['no nonce', ({ commitment, expiry }) => ({ commitment, expiry }), 'nonce'],
    ['no expiry', ({ commitment, nonce }) => ({ commitment, nonce }), 'expiry'],
  ])('gets no signature for %s', async (_, change, detail) => {
    expect(await lied(change)).toContain(detail)
  })

  it('gets no signature for a higher rate', async () => {
    expect(await lied(message({ cashbackOfCommissionBps: 4_000 }), {}, 'rate')).toContain(
      'cashbackOfCommissionBps is 4000, and should be 500',
    )
  })

  it('gets no signature for another type of commitment', async () => {
    const other = Commitment.from('IntentAccessCommitment', {
      chainId: v.m.chainId,
      reviewRegistry: v.m.market.addresses.ReviewRegistry,
      message: { agentId: 0, nonce: `0x${'11'.repeat(32)}`, expiry: Math.floor(Date.now() / 1_000) + 60 },
    })
    expect(await lied(() => ({ ...Commitment.envelope(other), nonce: '17' }))).toContain(
      'primaryType is IntentAccessCommitment, and should be VoteCommitment',
    )
  })

  it('gets no signature for its own contract where the caller knows the right one', async () => {
    const reviewRegistry = v.m.market.addresses.SplitRouter
    expect(await lied((told) => told, { chainId: v.m.chainId, reviewRegistry })).toContain(
      'verifyingContract',
    )
  })

  it('may have a clock that is a minute ahead, and no more', () => {
    const now = 1_750_000_000
    const place = { chainId: 31_337, reviewRegistry: v.m.market.addresses.ReviewRegistry }
    const wanted = { agentId: 7, cashbackOfCommissionBps: 1 }
    const offer = (expiry: number) => {
      const told = { ...wanted, nonce: `0x${'11'.repeat(32)}` as const, expiry }
      const offered = Commitment.envelope(
        Commitment.from('CashbackRateCommitment', { ...place, message: told }),
      )
      return commitmentOf(
        'CashbackRateCommitment',
        { ...place, wanted, offered, now: now * 1_000 },
        'POST here',
      )
    }
    expect(offer(now + 3_660).message.expiry).toBe(now + 3_660)
    expect(() => offer(now + 3_661)).toThrow('it would be valid for 3661 seconds')
  })
})
