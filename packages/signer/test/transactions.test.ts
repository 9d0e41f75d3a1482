// What the signer sends to the chain, and what the contracts refuse.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  confirmed,
  deployMarket,
  escrowDeposits,
  escrowTerms,
  type LocalChain,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  type Product,
  privateKeyOf,
  publishWithProof,
  registerIdentity,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '@referrer/contracts/local'
import { Attribution, ContentHash, Nonce } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import { type Address, type Hash, type LocalAccount, numberToHex, parseEventLogs } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSigner, type TestSigner } from './signer.ts'
import { type StandIn, startStandIn } from './stand-in.ts'

const DAY = 86_400
const CONTENT = JSON.stringify({ rating: 4, description: 'Does what it says.' })
const STUB: Address = '0x00000000000000000000000000000000000057ab'

let chain: LocalChain
let market: Market
let standIn: StandIn
let signer: TestSigner
let product: Product
/** Agents by whose key the signer has for them; `foreign` belongs to the merchant, `strange` to somebody else. */
let agents: Record<'buyer' | 'wallet' | 'reviewer' | 'foreign' | 'strange', bigint>
let approvedReviewId: bigint
const terms = new Map<number, ReturnType<typeof escrowTerms>>()

beforeAll(async () => {
  chain = await startLocalChain({ port: 0 })
  market = await deployMarket(chain.client)
  const { merchant, reviewer, buyer, walletBuyer, stranger } = market.accounts
  const foreign = await openMerchant(market, merchant)
  product = { merchantId: foreign, productId: numberToHex(0xb0, { size: 32 }) }
  await listProduct(market, merchant, product, { commissionBps: 2_000 })
  agents = {
    foreign,
    reviewer: await registerIdentity(market, reviewer),
    buyer: await registerIdentity(market, buyer),
    wallet: await registerIdentity(market, walletBuyer),
    strange: await registerIdentity(market, stranger),
  }
  const review = { agentId: agents.reviewer, product, content: CONTENT, proofId: 1n }
  approvedReviewId = (await publishWithProof(market, reviewer, review)).reviewId
  for (const { address } of [buyer, walletBuyer, stranger]) await mintUsdc(market, address, 100_000_000n)
  standIn = await startStandIn({ chainId: chain.chain.id, reviewRegistry: market.addresses.ReviewRegistry })
  standIn.says.get_escrow_terms = ({ escrow_id }) => termsOf(Number(escrow_id))
  signer = await startSigner(env())
})
afterAll(async () => {
  await signer?.close()
  await standIn?.close()
  await chain?.close()
})

function env(change: Record<string, string> = {}): Record<string, string> {
  const { reviewer, buyer, walletBuyer } = market.accounts
  const keys = [
    [agents.reviewer, reviewer],
    [agents.buyer, buyer],
    [agents.wallet, walletBuyer],
    [agents.foreign, walletBuyer],
    [agents.strange, buyer],
  ] as const
  return {
    AGENT_KEYS: keys.map(([agentId, account]) => `${agentId}:${privateKeyOf(account)}`).join(','),
    AGENT_PRIVATE_KEY: generatePrivateKey(),
    BASE_RPC_URL: chain.rpcUrl ?? '',
    CHAIN_ID: String(chain.chain.id),
    REVIEW_REGISTRY_ADDRESS: market.addresses.ReviewRegistry,
    COMMISSION_ESCROW_ADDRESS: market.addresses.CommissionEscrow,
    REFERRER_AGENT_MCP_URL: standIn.url,
    ...change,
  }
}

/** As the marketplace tells them. */
function termsOf(escrowId: number) {
  const found = terms.get(escrowId)
  if (!found) throw new Error(`escrow ${escrowId}: no such record`)
  return {
    escrow_id: String(found.escrowId),
    payer: found.payer,
    nonce: found.nonce,
    merchant_id: String(found.merchantId),
    product_id: found.productId,
    review_id: String(found.reviewId),
    reviewer_agent_id: String(found.reviewerAgentId),
    buyer_agent_id: String(found.buyerAgentId),
    held_back: String(found.heldBack),
    cashback: String(found.cashback),
    window_end: String(found.windowEnd),
  }
}

/** A purchase; without an agent it is the wallet's own. */
async function buy(buyer: LocalAccount, buyerAgentId = Attribution.AGENTLESS_BUYER_ID): Promise<number> {
  const attribution = {
    ...product,
    reviewId: approvedReviewId,
    reviewerAgentId: agents.reviewer,
    buyerAgentId,
    cashbackOfCommissionBps: 1_000,
    commissionMultiplierBps: 10_000,
  }
  const purchase = await signPurchase(market, buyer, { value: 1_000_000n, attribution, salt: Nonce.random() })
  const [deposit] = escrowDeposits(await settlePurchases(market, [purchase]))
  if (!deposit) throw new Error('no escrow')
  terms.set(Number(deposit.escrowId), escrowTerms(deposit))
  return Number(deposit.escrowId)
}

async function publish(escrow_id: number, agentId = agents.buyer, content_json = CONTENT) {
  const call = {
    agent_id: String(agentId),
    merchant_id: 0,
    product_id: product.productId,
    content_json,
    escrow_id,
  }
  return signer.must('publish_escrow_review', call)
}

const receiptOf = (hash: Hash) => chain.client.getTransactionReceipt({ hash })
const later = async (seconds: number) => {
  await chain.client.increaseTime({ seconds })
  await chain.client.mine({ blocks: 1 })
}
const timeOf = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString().replace('.000', '')

describe('publish_escrow_review', () => {
  it('publishes about what was bought, whatever ids are passed [SIGN-46, SIGN-47, SIGN-48, SIGN-49, SIGN-50, SIGN-51, SIGN-52, SIGN-53, SIGN-54]', async () => {
    const escrow_id = await buy(market.accounts.buyer, agents.buyer)
    const call = { agent_id: Number(agents.buyer), merchant_id: 99, content_json: CONTENT, escrow_id }
    const other = { ...call, product_id: numberToHex(0xff, { size: 32 }) }
    const published = await signer.must('publish_escrow_review', other)
    const { to, logs } = await receiptOf(published.tx_hash)
    expect(to?.toLowerCase()).toBe(market.addresses.ReviewRegistry.toLowerCase())
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
    expect(event?.args).toMatchObject({
      reviewId: BigInt(published.review_id),
      contentHash: ContentHash.contentHash({ agentId: agents.buyer, ...product, content: CONTENT }),
      proofId: BigInt(escrow_id),
      ...product,
    })
    expect(published.next_steps[0]).toContain('register_purchase_review')
    expect(await signer.refusal('publish_escrow_review', other)).toMatch(
      /^already reviewed: review \d+ was published/,
    )
  })

  it('sends nothing about what the marketplace would refuse, and goes on where that cannot be told', async () => {
    const { buyer } = market.accounts
    const { check_review_content: check } = standIn.says
    const escrow_id = await buy(buyer, agents.buyer)
    const call = { agent_id: String(agents.buyer), merchant_id: 0, product_id: product.productId, escrow_id }
    const sent = () => chain.client.getTransactionCount({ address: buyer.address })
    const before = await sent()
    standIn.asked.length = 0
    standIn.says.check_review_content = () => ({
      valid: false,
      problem: 'latency_ms is required: invalid input',
      content_needs: { schema_name: 'api' },
    })
    expect(await signer.refusal('publish_escrow_review', { ...call, content_json: CONTENT })).toBe(
      'the marketplace would refuse this review: latency_ms is required: invalid input, where {"schema_name":"api"}. Correct content_json; nothing was published',
    )
    expect(standIn.asked.at(-1)?.input).toEqual({
      merchant_id: Number(product.merchantId),
      product_id: product.productId,
      content_json: CONTENT,
      chain_id: chain.chain.id,
    })
    expect(await sent()).toBe(before)
    standIn.says.check_review_content = () => {
      throw new Error('no such tool')
    }
    const { review_id, next_steps } = await publish(escrow_id)
    expect(next_steps.join()).toContain('did not say beforehand whether it takes this content (no such tool)')
    standIn.says.check_review_content = () => ({ valid: false, problem: 'rating is required' })
    expect(
      await signer.refusal('update_review_content_onchain', { review_id, content_json: '{"rating":9}' }),
    ).toContain('the marketplace would refuse this review: rating is required')
    expect(await sent()).toBe(before + 1)
    if (check) standIn.says.check_review_content = check
  })

  it('refuses strangers, purchases of no agent and text that is no JSON', async () => {
    const escrow_id = await buy(market.accounts.walletBuyer)
    const call = { agent_id: String(agents.wallet), merchant_id: 0, product_id: product.productId, escrow_id }
    expect(await signer.refusal('publish_escrow_review', { ...call, content_json: CONTENT })).toContain(
      'bind_escrow',
    )
    expect(await signer.refusal('publish_escrow_review', { ...call, content_json: 'good' })).toContain(
      'content_json',
    )
    const bought = {
      ...call,
      content_json: CONTENT,
      escrow_id: await buy(market.accounts.buyer, agents.buyer),
    }
    expect(await signer.refusal('publish_escrow_review', bought)).toMatch(/^not the owner: /)
  })
})

describe('REVIEW_REGISTRY_ADDRESS', () => {
  it('is where reviews are published and edited, whatever registry the marketplace has [SIGN-81]', async () => {
    const other: Address = '0x000000000000000000000000000000000000c0de'
    const bytecode = await chain.client.getCode({ address: market.addresses.ReviewRegistry })
    await chain.client.setCode({ address: other, bytecode: bytecode ?? '0x' })
    const elsewhere = await startSigner(env({ REVIEW_REGISTRY_ADDRESS: other }))
    try {
      const bought = { agent_id: String(agents.buyer), merchant_id: 0, product_id: product.productId }
      const escrow_id = await buy(market.accounts.buyer, agents.buyer)
      const call = { ...bought, escrow_id, content_json: CONTENT }
      const published = await elsewhere.must('publish_escrow_review', call)
      expect((await receiptOf(published.tx_hash)).to).toBe(other)
      const edit = { review_id: published.review_id, content_json: '{"rating":1,"description":"Broke."}' }
      const edited = await elsewhere.must('update_review_content_onchain', edit)
      expect((await receiptOf(edited.tx_hash)).to).toBe(other)
    } finally {
      await elsewhere.close()
    }
  })
})

describe('bind_escrow', () => {
  it('names the agent of a wallet once [SIGN-55, SIGN-56, SIGN-57, SIGN-58, SIGN-59, SIGN-82, SIGN-94]', async () => {
    const { walletBuyer } = market.accounts
    const escrow_id = await buy(walletBuyer)
    const call = { agent_id: String(agents.wallet), escrow_id, chain_id: chain.chain.id }
    const bound = await signer.must('bind_escrow', call)
    expect(bound).toEqual({
      tx_hash: bound.tx_hash,
      escrow_id,
      agent_id: Number(agents.wallet),
      bound_by: walletBuyer.address,
    })
    const { to, logs } = await receiptOf(bound.tx_hash)
    expect(to?.toLowerCase()).toBe(market.addresses.CommissionEscrow.toLowerCase())
    const [event] = parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowBound', logs })
    expect(event?.args).toEqual({
      escrowId: BigInt(escrow_id),
      agentId: agents.wallet,
      boundBy: walletBuyer.address,
    })
    expect(await signer.refusal('bind_escrow', call)).toMatch(/^already bound: /)
  })

  it('refuses who did not pay, does not own the agent, or means no escrow [SIGN-92, SIGN-93, SIGN-96]', async () => {
    const escrow_id = await buy(market.accounts.walletBuyer)
    const refusal = (agentId: bigint, id: number) =>
      signer.refusal('bind_escrow', { agent_id: String(agentId), escrow_id: id })
    expect(await refusal(agents.buyer, escrow_id)).toMatch(/^not the buyer wallet: /)
    expect(await refusal(agents.foreign, escrow_id)).toMatch(/^not the agent's controller: /)
    expect(await refusal(agents.wallet, 99_999_999)).toBe('no such escrow: 99999999')
    expect(await refusal(agents.wallet, 0)).toBe('no such escrow: 0')
  })

  it('sends two at once in turn', async () => {
    const escrows = [await buy(market.accounts.walletBuyer), await buy(market.accounts.walletBuyer)]
    const calls = escrows.map((escrow_id) =>
      signer.must('bind_escrow', { agent_id: String(agents.wallet), escrow_id }),
    )
    expect((await Promise.all(calls)).map(({ escrow_id }) => escrow_id)).toEqual(escrows)
  })
})

describe('a transaction', () => {
  const SUCCEEDS = '0x60015f5260205ff3'
  const REVERTS = '0x5f5ffd'
  let stubbed: TestSigner
  /** Before the node, where something happens while a transaction is on its way. */
  let meanwhile: (() => Promise<void>) | undefined
  const node = createServer(async (request, response) => {
    const body = await text(request)
    if (body.includes('eth_sendRawTransaction')) await meanwhile?.()
    const headers = { 'content-type': 'application/json' }
    response.end(await (await fetch(chain.rpcUrl ?? '', { method: 'POST', headers, body })).text())
  })
  const settle = () =>
    stubbed.refusal('trigger_settle_fallback', { agent_id: String(agents.buyer), escrow_id: 1 })

  beforeAll(async () => {
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    const BASE_RPC_URL = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    stubbed = await startSigner(env({ COMMISSION_ESCROW_ADDRESS: STUB, BASE_RPC_URL }))
    await chain.client.setCode({ address: STUB, bytecode: SUCCEEDS })
  })
  afterAll(async () => {
    await stubbed?.close()
    node.close()
  })

  it('without its event is told [SIGN-91]', async () => {
    expect(await settle()).toMatch(
      /^event-not-found: transaction 0x[0-9a-f]{64} succeeded without EscrowSettled/,
    )
  })

  it('that reverts although it was tried out is told [SIGN-90]', async () => {
    meanwhile = () => chain.client.setCode({ address: STUB, bytecode: REVERTS })
    expect(await settle()).toMatch(/^tx reverted: 0x[0-9a-f]{64}$/)
  })
})

describe('update_review_content_onchain', () => {
  const edited = JSON.stringify({ rating: 2, description: 'It broke after a week.' })

  it('replaces the hash of a buyer review [SIGN-67, SIGN-68, SIGN-69, SIGN-70, SIGN-71, SIGN-72, SIGN-73, SIGN-74, SIGN-102]', async () => {
    const { review_id } = await publish(await buy(market.accounts.buyer, agents.buyer))
    const call = { review_id, content_json: edited }
    const answer = await signer.must('update_review_content_onchain', call)
    const { logs } = await receiptOf(answer.tx_hash)
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewContentEdited', logs })
    expect(answer).toMatchObject({
      review_id,
      agent_id: Number(agents.buyer),
      content_hash: ContentHash.contentHash({ agentId: agents.buyer, ...product, content: edited }),
      edited_at: timeOf(event?.args.editedAt ?? 0n),
    })
    expect(event?.args.contentHash).toBe(answer.content_hash)
    expect(answer.next_steps[0]).toContain('update_review_content')
    expect(await signer.refusal('update_review_content_onchain', call)).toMatch(/^unchanged hash: /)
  })

  it('refuses other proofs, other owners and other reviews [SIGN-100, SIGN-103]', async () => {
    const refusal = (review_id: number) =>
      signer.refusal('update_review_content_onchain', { review_id, content_json: edited })
    expect(await refusal(Number(approvedReviewId))).toMatch(/^wrong proof type: /)
    expect(await refusal(99_999)).toMatch(/^no such review: 99999/)
    // Its author is `strange`, for whom the signer has a key that is not the owner's.
    const { stranger } = market.accounts
    const escrowId = await buy(stranger, agents.strange)
    const hash = await chain.client.writeContract({
      account: stranger,
      address: market.addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [
        market.addresses.CommissionEscrow,
        terms.get(escrowId) as ReturnType<typeof escrowTerms>,
        numberToHex(1, { size: 32 }),
      ],
    })
    const { logs } = await confirmed(market, hash)
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
    expect(await refusal(Number(event?.args.reviewId))).toMatch(/^not the owner: /)
  })

  it('refuses after seven days [SIGN-101]', async () => {
    const { review_id } = await publish(await buy(market.accounts.buyer, agents.buyer))
    await later(8 * DAY)
    const call = { review_id, content_json: edited }
    expect(await signer.refusal('update_review_content_onchain', call)).toMatch(
      /^edit window closed: .* ended at 20/,
    )
  })
})

describe('trigger_settle_fallback', () => {
  it('settles when the time has come, and says when that is [SIGN-60, SIGN-61, SIGN-62, SIGN-63, SIGN-64, SIGN-65, SIGN-66, SIGN-95, SIGN-97, SIGN-98, SIGN-99]', async () => {
    const { walletBuyer, buyer, guardian } = market.accounts
    const escrow_id = await buy(walletBuyer)
    const call = { agent_id: String(agents.buyer), escrow_id }
    await later(65 * DAY)
    const opens = timeOf((terms.get(escrow_id)?.windowEnd ?? 0n) + BigInt(10 * DAY))
    expect(await signer.refusal('trigger_settle_fallback', call)).toMatch(
      new RegExp(`^too early: .* ${opens} on`),
    )
    await later(6 * DAY)

    const escrow = {
      address: market.addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      account: guardian,
    } as const
    await confirmed(market, await chain.client.writeContract({ ...escrow, functionName: 'pause' }))
    expect(await signer.refusal('trigger_settle_fallback', call)).toMatch(/^paused: /)
    await confirmed(market, await chain.client.writeContract({ ...escrow, functionName: 'unpause' }))
    await later(11 * DAY)

    // All other agents have a wallet without gas.
    const poor = { ...call, agent_id: '12345' }
    expect(await signer.refusal('trigger_settle_fallback', poor)).toMatch(/ETH for gas/)
    const settled = await signer.must('trigger_settle_fallback', call)
    const { logs } = await receiptOf(settled.tx_hash)
    const [event] = parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowSettled', logs })
    expect(settled).toEqual({
      tx_hash: settled.tx_hash,
      escrow_id,
      settled_by: buyer.address,
      held_back_to_treasury: Number(event?.args.heldBackToTreasury),
      cashback_to_reviewer: Number(event?.args.cashbackToReviewer),
    })
    expect(settled.held_back_to_treasury).toBeGreaterThan(0)
    expect(settled.cashback_to_reviewer).toBeGreaterThan(0)
    expect(await signer.refusal('trigger_settle_fallback', call)).toMatch(/^already settled: /)
    const bind = { agent_id: String(agents.wallet), escrow_id }
    expect(await signer.refusal('bind_escrow', bind)).toMatch(/^already settled: /)
  })
})
