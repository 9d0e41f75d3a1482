// A review as ERC-8004 feedback, and an agent's registration file: with a real market, chain and registries.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { mintUsdc, privateKeyOf, registerIdentity } from '@referrer/contracts/local'
import { bundled } from '@referrer/database/testing'
import { Feedback, Registration } from '@referrer/protocol'
import { identityRegistryAbi, reputationRegistryAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../service/test/http/caller.ts'
import { publishBuyerReview } from '../../service/test/http/escrows.ts'
import {
  BASE_URL,
  buy,
  generic,
  publishReview,
  startTestMarket,
  type TestMarket,
} from '../../service/test/http/market.ts'
import { openRecorded } from '../../service/test/http/merchants.ts'
import { ENDPOINT, sell } from '../../service/test/http/reviews.ts'
import { MAIN, newStateDir, startSigner, type TestSigner } from './signer.ts'

let m: TestMarket
let signer: TestSigner
let merchantId: bigint
let agents: { reviewer: bigint; buyer: bigint }
let product: Awaited<ReturnType<typeof sell>>
let linked: bigint

beforeAll(async () => {
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' } })
  const { reviewer, buyer } = m.market.accounts
  merchantId = await openRecorded(m)
  agents = {
    reviewer: await registerIdentity(m.market, reviewer),
    buyer: await registerIdentity(m.market, buyer),
  }
  await mintUsdc(m.market, buyer.address, 100_000_000n)
  product = await sell(m, merchantId, 1, ENDPOINT)
  const content = generic(5, 'Quick and right')
  linked = (await publishReview(m, reviewer, { agentId: agents.reviewer, product, content, proofId: 1n }))
    .reviewId
  signer = await startSigner(env())
})
afterAll(async () => {
  await signer?.close()
  await m?.close()
})

const env = (change: Record<string, string> = {}): Record<string, string> => {
  const { reviewer, buyer } = m.market.accounts
  return {
    AGENT_KEYS: `${agents.buyer}:${privateKeyOf(buyer)},${agents.reviewer}:${privateKeyOf(reviewer)}`,
    BASE_RPC_URL: m.chains[0]?.chain.rpcUrl ?? '',
    REFERRER_URL: m.service.url,
    ALLOW_PRIVATE_HOSTS: 'true',
    ...change,
  }
}

/** A review of a purchase; its text is known to the market unless it shall not be. */
async function reviewed(rating: number, { isRegistered = true } = {}): Promise<number> {
  const { buyer } = m.market.accounts
  const deposit = await buy(m, buyer, {
    product,
    reviewId: linked,
    reviewerAgentId: agents.reviewer,
    buyerAgentId: agents.buyer,
  })
  const body = await publishBuyerReview(m, buyer, deposit, generic(rating, 'As told'))
  await m.indexed()
  if (isRegistered) await must(m.call('POST', '/v1/review/register', { as: buyer, body }))
  return body.review_id
}

const asked = (review_id: number, more = {}) => ({ agent_id: Number(agents.buyer), review_id, ...more })
const given = () =>
  m.market.client.readContract({
    address: m.market.addresses.ReputationRegistry as Address,
    abi: reputationRegistryAbi,
    functionName: 'getLastIndex',
    args: [merchantId, m.market.accounts.buyer.address],
  })
const shown = async () => {
  await m.indexed()
  return (await must(m.call('GET', `/v1/merchant/${merchantId}/feedback`))).feedback
}

describe('mirror_review', () => {
  it('shows what it would send, and sends nothing', async () => {
    const reviewId = await reviewed(4)
    const answer = await signer.must('mirror_review', asked(reviewId, { dry_run: true }))
    expect(answer).toMatchObject({
      tx_hash: null,
      feedback_index: null,
      registry: m.market.addresses.ReputationRegistry,
      merchant_id: Number(merchantId),
      value: 75,
      feedback_uri: Feedback.urlOf(BASE_URL, m.chainId, reviewId),
    })
    expect(await given()).toBe(0n)
  })

  it('gives feedback that the market recognises as the review, once for each review', async () => {
    const [first, second] = [await reviewed(4), await reviewed(1)]
    const answer = await signer.must('mirror_review', asked(first))
    expect(answer.feedback_index).toBe(1)
    const file = await fetch(`${m.service.url}/v1/review/${first}/feedback?chain_id=${m.chainId}`)
    expect(answer.feedback_hash).toBe(Feedback.hash(await file.text()))
    expect(await shown()).toMatchObject([
      {
        client_address: m.market.accounts.buyer.address,
        value: '75',
        tag1: 'referrer',
        tag2: product.productId.slice(0, 10),
        endpoint: ENDPOINT,
        feedback_uri: answer.feedback_uri,
        feedback_hash: answer.feedback_hash,
        is_mirror: true,
        review_id: first,
      },
    ])
    expect(await signer.refusal('mirror_review', asked(first))).toMatch(/^already mirrored/)
    // Another signer has no record of it, and finds it on the chain.
    const another = await startSigner(env())
    try {
      expect(await another.refusal('mirror_review', asked(first))).toMatch(/^already mirrored/)
      const [one, two] = await Promise.all([
        another.call('mirror_review', asked(second)),
        another.call('mirror_review', asked(second)),
      ])
      expect([one.isError, two.isError].sort()).toEqual([false, true])
    } finally {
      await another.close()
    }
    expect(await given()).toBe(2n)
    expect(await shown()).toMatchObject([
      { is_mirror: true, review_id: second, value: '0' },
      { review_id: first },
    ])
  })

  it('is refused for what is no published review of a purchase by this author', async () => {
    const before = await given()
    const reviewId = await reviewed(3)
    expect(
      await signer.refusal('mirror_review', { agent_id: Number(agents.reviewer), review_id: reviewId }),
    ).toMatch(/^not the author/)
    expect(
      await signer.refusal('mirror_review', { agent_id: Number(agents.reviewer), review_id: Number(linked) }),
    ).toMatch(/^wrong proof type/)
    expect(await signer.refusal('mirror_review', asked(9_999))).toMatch(/^no such review/)
    const silent = await reviewed(3, { isRegistered: false })
    expect(await signer.refusal('mirror_review', asked(silent))).toMatch(/^not published/)
    expect(await signer.refusal('mirror_review', asked(reviewId, { chain_id: 1 }))).toMatch(/^wrong chain/)
    expect(await given()).toBe(before)
  })

  it('is refused when the market tells another text, rating or author than the chain', async () => {
    const before = await given()
    const reviewId = await reviewed(2)
    const lie = async (change: object) => {
      await m.sql`UPDATE market.reviews SET ${m.sql(change)} WHERE internal_id = (
        SELECT internal_id FROM chain.reviews WHERE review_id = ${reviewId})`
      const refusal = await signer.refusal('mirror_review', asked(reviewId))
      await m.sql`UPDATE market.reviews SET content = ${generic(2, 'As told')}, satisfaction_score = 0.25,
        author_owner = ${Buffer.from(m.market.accounts.buyer.address.slice(2), 'hex')}
        WHERE internal_id = (SELECT internal_id FROM chain.reviews WHERE review_id = ${reviewId})`
      return refusal
    }
    expect(await lie({ content: generic(2, 'A lie') })).toContain('is not what the chain says')
    expect(await lie({ satisfaction_score: 1 })).toContain('is not what the chain says')
    expect(await lie({ author_owner: Buffer.alloc(20, 7) })).toMatch(/^not the author/)
    expect(await given()).toBe(before)
    await signer.must('mirror_review', asked(reviewId))
  })
})

describe('referrer-signer registration', () => {
  const about = [
    '--name',
    'Meteo',
    '--description',
    'Asks for the weather',
    '--service',
    'MCP=https://agent.test/mcp',
  ]
  const uriOf = () =>
    m.market.client.readContract({
      address: m.market.addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'tokenURI',
      args: [agents.buyer],
    })

  async function run(args: string[], change: Record<string, string> = {}) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const child = spawn(
      process.execPath,
      [await bundled(MAIN), 'registration', '--agent', String(agents.buyer), '--json', ...args],
      { env: { PATH, NODE_COMPILE_CACHE, SIGNER_STATE_DIR: newStateDir(), ...env(change) } },
    )
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    return { code, ...JSON.parse(out) }
  }

  it('puts the file into the URI of the identity, once that is said', async () => {
    const shown = await run(about)
    expect(shown).toMatchObject({ code: 0, tx_hash: null })
    expect(await uriOf()).toBe('')
    const { uri, tx_hash } = await run([...about, '--set'])
    expect(uri).toBe(shown.uri)
    expect(tx_hash).toMatch(/^0x/)
    expect(await uriOf()).toBe(uri)
    const read = Registration.parse(Registration.fromDataUri(uri) ?? '')
    expect(read).toMatchObject({
      name: 'Meteo',
      services: [{ name: 'MCP', endpoint: 'https://agent.test/mcp' }],
    })
    const identity = {
      chainId: m.chainId,
      identityRegistry: m.market.addresses.IdentityRegistry,
      agentId: agents.buyer,
    }
    expect(Registration.names(read, identity)).toBe(true)
    expect(await run([...about, '--set'])).toMatchObject({ code: 0, tx_hash: null })
    await run(['--url', 'https://agent.test/registration.json', '--set'])
    expect(await uriOf()).toBe('https://agent.test/registration.json')
  })

  it('is refused for what is no file, no address or not its agent', async () => {
    const before = await uriOf()
    const refused = async (args: string[], change?: Record<string, string>) => {
      const { code, error } = await run([...args, '--set'], change)
      expect(code).toBe(1)
      return error
    }
    expect(await refused([])).toBe('say who the agent is: --name <name> --description <text>')
    expect(await refused(['--name', 'n'.repeat(201), '--description', 'd'])).toMatch(/name must/)
    expect(await refused(['--url', 'javascript:1'])).toMatch(/url must/)
    expect(await refused([...about, '--service', 'MCP'])).toMatch(/--service must/)
    expect(await refused([...about.slice(0, 2), '--description', 'd'.repeat(5_000)])).toMatch(
      /description must/,
    )
    const stranger = `${agents.buyer}:${privateKeyOf(m.market.accounts.stranger)}`
    expect(await refused(about, { AGENT_KEYS: stranger })).toContain('Not authorized')
    expect(await uriOf()).toBe(before)
  })
})
