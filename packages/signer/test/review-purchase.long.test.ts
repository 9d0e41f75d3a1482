// The tool `review_purchase` beside the whole marketplace, and killed wherever it may be.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Jobs, type Message, startJobs, WANT } from './jobs.ts'
import { PRICE } from './marketplace.ts'
import type { TestSigner } from './signer.ts'

const CONTENT = { rating: 4, description: 'To the minute, for ten cities.' }

let jobs: Jobs
let signer: TestSigner
beforeAll(async () => {
  jobs = await startJobs()
  signer = await jobs.start()
})
afterAll(() => jobs?.close())
beforeEach(() => {
  jobs.before = undefined
})

let keys = 0
/** A purchase, and a review of it with a vote. */
async function purchase(more: Record<string, unknown> = {}) {
  keys += 1
  const answer = await signer.must('buy', {
    want: WANT,
    max_amount: String(PRICE),
    idempotency_key: `to review ${keys}`,
    agent_id: jobs.place.agentId,
  })
  await jobs.place.m.indexed()
  const [, other] = /reviews (\d+)/.exec(answer.next_steps[0]) ?? []
  return {
    escrow_id: answer.escrow_id,
    agent_id: jobs.place.agentId,
    content: CONTENT,
    votes: [{ review_id: Number(other), reasoning: 'It told me of the limits.' }],
    ...more,
  }
}
const shown = async (review_id: number) => (await jobs.place.mcp.call('get_review', { review_id })).structured

it('reviews a purchase whose escrow has the number of an earlier one, as in a sandbox that began anew', async () => {
  const anew = await startJobs()
  try {
    const wish = { want: WANT, max_amount: String(PRICE), agent_id: anew.place.agentId }
    const earlier = await purchase()
    const later = await anew.start({ SIGNER_STATE_DIR: signer.stateDir })
    let bought = { escrow_id: 0, next_steps: [''] }
    for (let count = 0; bought.escrow_id < earlier.escrow_id; count += 1) {
      bought = await later.must('buy', { ...wish, idempotency_key: `anew ${count}` })
    }
    const { escrow_id, next_steps } = bought
    expect(escrow_id).toBe(earlier.escrow_id)
    await signer.must('review_purchase', earlier)
    await anew.place.m.indexed()
    const { review } = await anew.newest()
    const [, other] = /reviews (\d+)/.exec(next_steps[0] ?? '') ?? []
    const votes = [{ review_id: Number(other), reasoning: 'It told me of the limits.' }]
    const content = { rating: 2, description: 'Not to the minute any more.' }
    const opinion = { escrow_id, agent_id: anew.place.agentId, content, votes }
    expect(await later.must('review_purchase', opinion)).toMatchObject({ review_id: review + 1 })
    expect(await anew.newest()).toMatchObject({ review: review + 1 })
    const { structured } = await anew.place.mcp.call('get_review', { review_id: review + 1 })
    expect(structured).toMatchObject({ content_json: content })
  } finally {
    await anew.close()
  }
})

it('votes, publishes and registers; a repeated call tells the cashback and does nothing again', async () => {
  const { review } = await jobs.newest()
  const opinion = await purchase()
  const sent = await jobs.sent()
  const answer = await signer.must('review_purchase', opinion)
  expect(answer).toMatchObject({
    review_id: review + 1,
    ref_link: expect.stringContaining('/r/'),
    votes_cast: true,
    cashback: { amount: expect.any(Number), status: expect.stringMatching(/claimable|released/) },
  })
  expect(answer.cashback.amount).toBeGreaterThan(0)
  expect(await shown(review + 1)).toMatchObject({ status: 'published', content_json: CONTENT })
  const again = await signer.must('review_purchase', { ...opinion, content: { ...CONTENT, rating: 1 } })
  expect(again).toMatchObject({ review_id: review + 1, ref_link: answer.ref_link })
  expect(again.next_steps.join()).toContain('update_review_content_onchain')
  expect([await jobs.sent(), await jobs.newest()]).toMatchObject([sent + 1, { review: review + 1 }])
})

it('asks for votes where they are needed, with the reviews to choose from, and publishes nothing before', async () => {
  const { votes, ...opinion } = await purchase()
  const { isError, text } = await signer.call('review_purchase', opinion)
  expect([isError, text]).toEqual([true, expect.stringContaining('needs votes')])
  expect(signer.said()).toMatch(new RegExp(`review_id[\\\\":]+${votes[0]?.review_id}\\b`))
  const { review } = await jobs.newest()
  expect(await signer.must('review_purchase', { ...opinion, votes })).toMatchObject({ review_id: review + 1 })
})

it('needs no votes where they were cast before, and takes them again as they are', async () => {
  const [first, second] = [await purchase(), await purchase()]
  for (const { escrow_id, agent_id, votes } of [first, second]) {
    const { commitment, nonce, expiry } = (
      await jobs.place.mcp.call('cast_review_votes', { escrow_id, agent_id, votes })
    ).structured
    const { signature } = await signer.must('sign_vote_commitment', { commitment })
    const signed = { escrow_id, agent_id, votes, nonce, expiry, agent_sig: signature }
    expect((await jobs.place.mcp.call('cast_review_votes', signed)).isError).toBe(false)
  }
  const { votes: _, ...withoutVotes } = first
  expect(await signer.must('review_purchase', withoutVotes)).toMatchObject({ votes_cast: false })
  expect(await signer.must('review_purchase', second)).toMatchObject({ votes_cast: true })
})

it('casts no vote and publishes nothing when the content or the purchase is not right', async () => {
  const opinion = await purchase()
  const { review } = await jobs.newest()
  const asked: string[] = []
  jobs.before = ({ body }) => void asked.push(body)
  const bad = { ...opinion, content: { rating: 9, description: 'Too good' } }
  expect(await signer.refusal('review_purchase', bad)).toContain('would refuse this review')
  expect(await signer.refusal('review_purchase', { ...opinion, escrow_id: 9_999 })).toContain(
    'no such escrow',
  )
  expect(await signer.refusal('review_purchase', { ...opinion, agent_id: 1 })).toContain('no key for agent 1')
  expect(asked.filter((body) => body.includes('"cast_review_votes"'))).toEqual([])
  const wrongVote = { ...opinion, votes: [{ review_id: 9_999, reasoning: 'It helped.' }] }
  expect(await signer.refusal('review_purchase', wrongVote)).toMatch(
    /review 9999 not found.*no vote is cast, nothing is published: call again/,
  )
  expect(await jobs.newest()).toMatchObject({ review })
  // Corrected, it goes on.
  expect(await signer.must('review_purchase', opinion)).toMatchObject({ review_id: review + 1 })
})

it('brings the text of a review that was published by other tools, and refuses another text for it', async () => {
  const opinion = await purchase()
  const { agent_id, escrow_id } = opinion
  const { merchantId, productId: product_id } = jobs.first
  const content_json = JSON.stringify(CONTENT)
  const published = { agent_id, escrow_id, merchant_id: Number(merchantId), product_id, content_json }
  const { review_id } = await signer.must('publish_escrow_review', published)
  const other = { ...opinion, content: { ...CONTENT, rating: 2 } }
  expect(await signer.refusal('review_purchase', other)).toContain('published with another content')
  const elsewhere = await jobs.start()
  expect(await elsewhere.must('review_purchase', opinion)).toMatchObject({ review_id })
})

const asks =
  (tool: string, more = '') =>
  ({ body }: Message) =>
    body.includes(`"${tool}"`) && body.includes(more)

/** Where a signer is killed; afterwards the message still arrives. */
const MOMENTS: [string, (message: Message) => boolean][] = [
  ['checks the content', asks('check_review_content')],
  ['asks what to sign for the votes', asks('cast_review_votes')],
  ['casts the votes', asks('cast_review_votes', '"agent_sig"')],
  ['sends the transaction', asks('eth_sendRawTransaction')],
  ['waits for the transaction', asks('eth_getTransactionReceipt')],
  ['registers the review', asks('register_purchase_review')],
]

it.each(MOMENTS)('votes and publishes once, though it is killed when it %s', async (_, isThere) => {
  const opinion = await purchase()
  const { review } = await jobs.newest()
  const sent = await jobs.sent()
  const dying = await jobs.start()
  jobs.before = (message) => {
    if (isThere(message)) dying.kill()
  }
  await expect(dying.call('review_purchase', opinion)).rejects.toThrow()
  jobs.before = undefined
  await jobs.place.m.indexed()
  const again = await jobs.start({ SIGNER_STATE_DIR: dying.stateDir })
  const answer = await again.must('review_purchase', opinion)
  expect(answer).toMatchObject({ review_id: review + 1, votes_cast: true })
  expect(await again.must('review_purchase', opinion)).toMatchObject({ review_id: review + 1 })
  expect(await shown(review + 1)).toMatchObject({ status: 'published', content_json: CONTENT })
  expect([await jobs.newest(), await jobs.sent()]).toMatchObject([{ review: review + 1 }, sent + 1])
})

it('waits for a transaction that was sent before it was killed, and sends no other', async () => {
  const opinion = await purchase()
  const { review } = await jobs.newest()
  const sent = await jobs.sent()
  const dying = await jobs.start()
  const { client } = jobs.place.m.market
  await client.setAutomine(false)
  jobs.before = ({ body }) => {
    if (body.includes('"eth_getTransactionReceipt"')) dying.kill()
  }
  await expect(dying.call('review_purchase', opinion)).rejects.toThrow()
  const again = await jobs.start({ SIGNER_STATE_DIR: dying.stateDir })
  jobs.before = ({ body }) => {
    // The second signer has found the transaction and waits for it.
    if (body.includes('"eth_getTransactionReceipt"'))
      void client.setAutomine(true).then(() => client.mine({ blocks: 1 }))
  }
  expect(await again.must('review_purchase', opinion)).toMatchObject({ review_id: review + 1 })
  expect([await jobs.newest(), await jobs.sent()]).toMatchObject([{ review: review + 1 }, sent + 1])
})
