import { type Product, registerIdentity } from '@referrer/contracts/local'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type Hex, keccak256, stringToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startService } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must } from '../http/caller.ts'
import { send } from '../http/chain.ts'
import { expensiveFor, giveToContract } from '../http/contract-wallets.ts'
import { generic, NO_WORK, type TestMarket } from '../http/market.ts'
import { ENDPOINT, sell } from '../http/reviews.ts'
import { asAdmin } from '../http/town.ts'
import { startReplica } from '../oracle/world.ts'
import { connectTo, type McpCaller, type ToolAnswer } from './client.ts'
import {
  approved,
  argsOf,
  type Desk,
  outliveCommitments,
  prove,
  published,
  review,
  signed,
  startDesk,
  submit,
  transactions,
  written,
} from './submitting.ts'

let desk: Desk
let m: TestMarket
let mcp: McpCaller
let agentId: bigint
let product: Product

beforeAll(async () => {
  desk = await startDesk()
  ;({ m, mcp, agentId, product } = desk)
})
afterEach(async () => {
  m.nodes.only = undefined
  await m.market.client.setAutomine(true)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

/** The newest review, and the number of reviews. */
const listed = async () => (await mcp.call('list_reviews', { limit: 1 })).structured
const failure = (text: string) => expect.objectContaining({ isError: true, text })

describe('a review on a proof', () => {
  it('is asked for a signature of its author, its product and its text, and nothing is written yet [MCP-100]', async () => {
    const args = argsOf(desk, await approved(desk))
    const before = await written(desk)
    const { structured, isError } = await submit(desk, args)
    expect(isError).toBe(false)
    const { merchantId, productId } = product
    const contentHash = await m.market.client.readContract({
      address: m.market.addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'hashContent',
      args: [agentId, merchantId, productId, args.content_json],
    })
    expect(structured).toEqual({
      status: 'awaiting_signature',
      commitment: expect.objectContaining({ primaryType: 'ReviewCommitment' }),
      nonce: expect.stringMatching(/^(0|[1-9]\d*)$/),
      expiry: expect.any(Number),
    })
    expect(structured.commitment.message).toEqual({
      agentId: String(agentId),
      merchantId: String(merchantId),
      productId,
      contentHash,
      nonce: structured.nonce,
      expiry: structured.expiry,
    })
    expect(await written(desk)).toEqual(before)
  })

  it('is published once the proof is approved, and not before or after a rejection [PROOF-29]', async () => {
    const proofId = await prove(desk)
    const args = argsOf(desk, proofId)
    const pending = failure(
      `proof ${proofId} is not approved yet; get_proof_status tells when it is: conflict`,
    )
    const forged = {
      nonce: '1',
      expiry: Math.floor(Date.now() / 1_000) + 60,
      agent_sig: `0x${'11'.repeat(65)}`,
    }
    expect(await submit(desk, args)).toEqual(pending)
    expect(await submit(desk, { ...args, ...forged })).toEqual(pending)
    const rejectedId = await prove(desk)
    await must(asAdmin(m, `proofs/${rejectedId}/reject`, { note: 'not yours' }))
    const rejected = failure(`proof ${rejectedId} was rejected; submit another one: conflict`)
    expect(await submit(desk, argsOf(desk, rejectedId))).toEqual(rejected)
    expect(await submit(desk, { ...argsOf(desk, rejectedId), ...forged })).toEqual(rejected)

    await must(asAdmin(m, `proofs/${proofId}/approve`))
    const body = await signed(desk, args)
    const { total } = await listed()
    await m.market.client.setAutomine(false)
    const { structured } = await submit(desk, body)
    expect(structured).toEqual({
      status: 'submitted',
      review_id: expect.any(Number),
      content_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const { review_id: internalId, content_hash } = structured
    expect(await review(desk, internalId)).toMatchObject({
      status: 'pending',
      on_chain_id: null,
      ref_link: '',
      published_at: null,
      content_json: { rating: 4, description: 'Quick and right' },
    })
    expect((await listed()).total).toBe(total)
    await until(async () => (await transactions(desk, proofId))[0]?.state === 'sent', 'the transaction')
    await m.market.client.setAutomine(true)
    await m.market.client.mine({ blocks: 1 })
    const { on_chain_id } = await published(desk, internalId)
    expect(await listed()).toMatchObject({ total: total + 1, reviews: [{ internal_id: internalId }] })
    const onChain = await m.market.client.readContract({
      address: m.market.addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'getReview',
      args: [BigInt(on_chain_id)],
    })
    expect(onChain).toMatchObject({ agentId, ...product, contentHash: content_hash, proofKind: 1 })

    expect(await review(desk, internalId)).toMatchObject({
      internal_id: internalId,
      on_chain_id,
      satisfaction_score: 0.75,
      ref_link: expect.stringContaining('/r/'),
    })
    expect((await submit(desk, body)).structured, 'the same again').toEqual(structured)
    expect(await submit(desk, args)).toEqual(
      failure(
        `proof ${proofId} is used by the review with internal_id ${internalId}, which is published: already exists`,
      ),
    )
    expect(await transactions(desk, proofId)).toHaveLength(1)
  })

  it('is refused at the first step for whatever can be known by then', async () => {
    const proofId = await approved(desk)
    const unlisted = { merchantId: product.merchantId, productId: `0x${'ee'.repeat(32)}` as Hex }
    const unlistedId = await approved(desk, unlisted)
    const measured = await sell(m, product.merchantId, 2, ENDPOINT)
    const texts = { name: 'Weather', description: 'Of tomorrow', category: 'api', endpoint_url: ENDPOINT }
    const api = { merchant_id: Number(measured.merchantId), product_id: measured.productId, ...texts }
    await must(m.call('POST', '/v1/merchant/product', { as: m.market.accounts.merchant, body: api }))
    const steps: [object, string | RegExp][] = [
      [argsOf(desk, 9_999), 'proof with proof_id 9999 not found: not found'],
      [
        { ...argsOf(desk, proofId), agent_id: Number(agentId) + 1 },
        `proof with proof_id ${proofId} not found: not found`,
      ],
      [argsOf(desk, proofId, '[]'), 'content_json is not a JSON object: invalid input'],
      [argsOf(desk, proofId, generic(6, 'x')), 'rating must be a whole number from 1 to 5: invalid input'],
      [argsOf(desk, unlistedId), /^product 0xe+ of merchant \d+ is not listed .*: not found$/],
      [
        argsOf(desk, await approved(desk, measured)),
        /^content_json does not follow the schema of category api: /,
      ],
    ]
    for (const [args, text] of steps)
      expect(await submit(desk, args)).toEqual(
        failure(typeof text === 'string' ? text : expect.stringMatching(text)),
      )
  })

  it('is refused with the signature of another, of another text, or where nobody publishes', async () => {
    const args = argsOf(desk, await approved(desk))
    const before = await written(desk)
    const byAnother = await signed(desk, args, m.market.accounts.stranger)
    expect(await submit(desk, byAnother)).toEqual(
      failure(expect.stringMatching(/^signature not from agent owner: .*: unauthorized$/)),
    )
    const body = await signed(desk, args)
    expect(await submit(desk, { ...body, content_json: generic(1, 'Not so') })).toMatchObject({
      isError: true,
    })
    const { config } = m.service.context
    const mute = await startService({ ...config, publisher: undefined }, NO_WORK)
    try {
      const caller = await connectTo(`${mute.url}/mcp`)
      for (const given of [args, body])
        expect(await submit(desk, given, caller)).toEqual(
          failure(expect.stringMatching(/^publishing is not enabled here/)),
        )
      await caller.close()
    } finally {
      await mute.stop()
    }
    expect(await written(desk)).toEqual(before)
  })
})

describe('a submission', () => {
  it('of many at once, on two replicas, is one: the first wins and the others learn of it', async () => {
    const proofId = await approved(desk)
    const first = await signed(desk, argsOf(desk, proofId, generic(3, 'One')))
    const another = argsOf(desk, proofId, generic(3, 'Another'))
    // The same nonce for another text: the chain would accept either.
    const { nonce, expiry } = first
    const { commitment } = (await submit(desk, another)).structured
    const message = { ...commitment.message, nonce, expiry }
    const agent_sig = await desk.owner.signTypedData({ ...commitment, message })
    const bodies = [first, { ...another, nonce, expiry, agent_sig }]
    const replica = await startReplica(m, NO_WORK)
    try {
      const callers = [mcp, await connectTo(`${replica.url}/mcp`)]
      const answers = await Promise.all(
        Array.from({ length: 8 }, async (_, at) => {
          const body = bodies[at % 2]
          return { body, ...(await submit(desk, body ?? {}, callers[at >> 2])) }
        }),
      )
      const taken = answers.filter(({ isError }) => !isError)
      const [{ structured, body } = { structured: undefined, body: undefined }] = taken
      expect(taken).toHaveLength(4)
      for (const one of taken) expect(one).toMatchObject({ structured, body })
      const { review_id: internalId } = structured
      for (const { isError, text } of answers)
        if (isError)
          expect(text).toMatch(
            new RegExp(
              `^proof ${proofId} is used by the review with internal_id ${internalId}, .*: already exists$`,
            ),
          )
      expect((await published(desk, internalId)).content_json).toEqual(JSON.parse(String(body?.content_json)))
      expect(await transactions(desk, proofId)).toHaveLength(1)
      await callers[1]?.close()
    } finally {
      await replica.stop()
    }
  })

  it('by a contract that makes it dear is not published at our expense, however often it is tried', async () => {
    const agentId = await registerIdentity(desk.m.market, desk.owner)
    const other = { ...desk, agentId }
    const proofId = await approved(other)
    const { ReviewRegistry } = desk.m.market.addresses
    await giveToContract(desk.m, desk.owner, agentId, expensiveFor(ReviewRegistry))
    const args = argsOf(other, proofId)
    expect(await submit(desk, await signed(other, args))).toMatchObject({ isError: false })
    await until(async () => (await transactions(desk, proofId)).at(-1)?.state === 'failed', 'the failure')
    const [{ reason } = { reason: '' }] = await transactions(desk, proofId)
    expect(reason).toMatch(/^takes \d{7} gas, more than 600000$/)
    await desk.m.sql`UPDATE market.submissions SET attempt = 5 WHERE proof_id = ${proofId}`
    expect(await submit(desk, args)).toMatchObject({
      isError: true,
      text: `publishing with proof ${proofId} failed 5 times; submit another one: conflict`,
    })
  })

  it('that is cut off in the middle leaves nothing, and goes through when it is repeated', async () => {
    const args = argsOf(desk, await approved(desk))
    const body = await signed(desk, args)
    const before = await written(desk)
    const lock = await m.sql.reserve()
    let cut: ToolAnswer
    try {
      await lock`BEGIN`
      await lock`LOCK TABLE market.submissions IN SHARE MODE`
      const asked = submit(desk, body)
      // Its record and its transaction are written by then, but not committed.
      const pid = await until(async () => {
        const [waiting] = await m.sql<{ pid: number }[]>`
          SELECT pid FROM pg_locks WHERE relation = 'market.submissions'::regclass AND NOT granted`
        return waiting?.pid
      }, 'somebody in the middle of submitting')
      await m.sql`SELECT pg_terminate_backend(${pid})`
      cut = await asked
    } finally {
      await lock`ROLLBACK`
      lock.release()
    }
    expect(cut.isError).toBe(true)
    expect(await written(desk)).toEqual(before)

    // A `v` of 0 or 1 is accepted, too.
    const v = Number(body.agent_sig.slice(-2) === '1c')
    const agent_sig = `${body.agent_sig.slice(0, -2)}0${v}`
    const { structured } = await submit(desk, { ...body, agent_sig })
    expect((await submit(desk, body)).structured).toEqual(structured)
    await published(desk, structured.review_id)
    expect(await transactions(desk, args.proof_id)).toHaveLength(1)
  })

  it('whose transaction is refused by the chain may be made again, with another text, and keeps its number', async () => {
    const { admin, publisher } = m.market.accounts
    const role = keccak256(stringToHex('PUBLISHER_ROLE'))
    const appoint = (act: 'grantRole' | 'revokeRole') =>
      send(m, call(m, admin, 'ReviewRegistry', act, [role, publisher.address]))
    const proofId = await approved(desk)
    await appoint('revokeRole')
    const first = await signed(desk, argsOf(desk, proofId))
    const { structured } = await submit(desk, first)
    await until(async () => {
      await m.sql`UPDATE sender.intents SET retry_at = '-infinity' WHERE state = 'enqueued'`
      return (await transactions(desk, proofId))[0]?.state === 'failed'
    }, 'the failure')
    expect(await review(desk, structured.review_id)).toMatchObject({ status: 'pending', on_chain_id: null })

    await appoint('grantRole')
    const text = generic(2, 'On second thoughts')
    const second = await signed(desk, argsOf(desk, proofId, text))
    expect((await submit(desk, second)).structured).toMatchObject({ review_id: structured.review_id })
    expect(await published(desk, structured.review_id)).toMatchObject({
      content_json: JSON.parse(text),
      satisfaction_score: 0.25,
    })
    expect(await submit(desk, first)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/: already exists$/),
    })
    expect(await transactions(desk, proofId)).toHaveLength(2)
  })

  it('that waited until its commitment expired may be made again, and its transaction waits no more', async () => {
    const proofId = await approved(desk)
    const args = argsOf(desk, proofId)
    m.nodes.only = 'eth_estimateGas'
    const { structured } = await submit(desk, await signed(desk, args))
    const { review_id: internalId } = structured
    expect(await submit(desk, args)).toEqual(
      failure(
        `proof ${proofId} is used by the review with internal_id ${internalId}, which is being published; get_review tells when it is: already exists`,
      ),
    )
    await outliveCommitments(desk)
    const again = await submit(desk, await signed(desk, args))
    expect(again.structured).toEqual(structured)
    expect(await transactions(desk, proofId)).toMatchObject([
      { state: 'failed', reason: 'withdrawn' },
      { state: 'enqueued' },
    ])
    m.nodes.only = undefined
    await published(desk, internalId)
  })

  it('that a reorganisation takes off the chain keeps its text, and comes back by itself', async () => {
    const proofId = await approved(desk)
    const body = await signed(desk, argsOf(desk, proofId, generic(5, 'Here to stay')))
    await m.indexed()
    const id = await m.market.client.snapshot()
    const { review_id: internalId } = (await submit(desk, body)).structured
    await published(desk, internalId)
    m.nodes.only = 'eth_sendRawTransaction'
    await m.market.client.revert({ id })
    await m.market.client.mine({ blocks: 1 })
    await m.indexed()
    expect(await review(desk, internalId)).toMatchObject({
      status: 'pending',
      on_chain_id: null,
      content_json: { rating: 5, description: 'Here to stay' },
    })
    m.nodes.only = undefined
    await published(desk, internalId)
    expect(await transactions(desk, proofId)).toHaveLength(1)
  })
})
