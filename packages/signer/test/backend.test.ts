// The signer beside the whole marketplace: service, facilitator and shop on one chain.
import type { IncomingMessage } from 'node:http'
import { privateKeyOf } from '@referrer/contracts/local'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../service/test/http/caller.ts'
import { generic, type TestMarket } from '../../service/test/http/market.ts'
import type { Review } from '../../service/test/http/town.ts'
import type { McpCaller } from '../../service/test/mcp/client.ts'
import { type Marketplace, MONEY, PRICE, startMarketplace } from './marketplace.ts'
import { startSigner, type TestSigner } from './signer.ts'

let place: Marketplace
let m: TestMarket
let mcp: McpCaller
let signer: TestSigner
let shop: Marketplace['shop']
let endpoint: string
let agent_id: number
let link: Review
let other: Review
let ref_link: string

beforeAll(async () => {
  place = await startMarketplace()
  ;({ m, mcp, shop, endpoint, agentId: agent_id, link, other, refLink: ref_link } = place)
  const key = privateKeyOf(m.market.accounts.buyer)
  signer = await startSigner({
    ...place.env,
    AGENT_PRIVATE_KEY: key,
    // The second agent is not the buyer's.
    AGENT_KEYS: `${agent_id}:${key},${link.author.agentId}:${key}`,
  })
})
afterAll(async () => {
  await signer?.close()
  await place?.close()
})

/** Both steps of a tool of the marketplace, with the signer in between. */
async function inTwoSteps(tool: string, signTool: string, args: Record<string, unknown>) {
  const { isError, text, structured } = await mcp.call(tool, args)
  if (isError) throw new Error(`step 1 of ${tool}: ${text}`)
  const { commitment, nonce, expiry } = structured
  const { signature } = await signer.must(signTool, { commitment })
  return mcp.call(tool, { ...args, nonce, expiry, agent_sig: signature })
}

describe('a commitment of the marketplace', () => {
  it.each<[string, string, Record<string, string>, string, string]>([
    ['link_messenger', 'sign_messenger_link_commitment', {}, 'linked', '[SIGN-105]'],
    ['get_pending_intents', 'sign_intent_access_commitment', {}, 'ok', ''],
    ['mark_intent_executed', 'sign_intent_mark_commitment', { intent_id: 'none', result: 'done' }, 'ok', ''],
    [
      'mark_intent_skipped',
      'sign_intent_skip_commitment',
      { intent_id: 'none', reason: 'too dear' },
      'ok',
      '',
    ],
  ])(
    'of %s, signed by %s, is taken as it came [SIGN-14, SIGN-16] $4',
    async (tool, signTool, args, status) => {
      expect((await inTwoSteps(tool, signTool, { agent_id, ...args })).structured).toMatchObject({ status })
    },
  )

  it('of a pledge is taken from the owner, and refused when another key signs [SIGN-16, SIGN-19]', async () => {
    const pledge = (reviewer_agent_id: number) =>
      inTwoSteps('set_cashback_rate', 'sign_cashback_rate_commitment', {
        reviewer_agent_id,
        cashback_of_commission_bps: 500,
      })
    expect((await pledge(agent_id)).structured).toEqual({ status: 'set' })
    const refused = await pledge(Number(link.author.agentId))
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('unauthorized') })
  })
})

describe('a purchase', () => {
  const order = (votes: Review[]) => ({
    ref_link,
    agent_id: String(agent_id),
    max_amount: String(PRICE),
    submit_votes: votes.map(({ internalId }) => ({ review_id: internalId, reasoning: 'It helped.' })),
  })

  it('is paid although its votes are refused [SIGN-42, SIGN-83]', async () => {
    const paid = await signer.must('pay_for_product', order([link]))
    expect(paid).toMatchObject({
      votes_recorded: 0,
      votes_error: 'cannot vote for the ref-link review of this purchase: invalid input',
    })
    const last = await m.market.client.readContract({
      address: m.market.addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      functionName: 'lastEscrowId',
    })
    expect(last).toBe(paid.escrow_id)
  })

  it('is voted on, reviewed, and the review edited once its new text is brought [SIGN-75, SIGN-76, SIGN-83]', async () => {
    const paid = await signer.must('pay_for_product', order([other]))
    expect(paid).toMatchObject({ votes_recorded: 1, votes_error: null })
    const { escrow_id, merchant_id, product_id } = paid
    const first = generic(5, 'Works')
    const second = generic(2, 'Broke after a week')
    const { review_id } = await signer.must('publish_escrow_review', {
      agent_id,
      merchant_id,
      product_id,
      escrow_id,
      content_json: first,
    })
    await m.indexed()
    const registered = await mcp.call('register_purchase_review', {
      review_id,
      escrow_id,
      content_json: first,
    })
    expect(registered).toMatchObject({ isError: false, structured: { status: 'buyer_review_registered' } })

    const shown = async () => (await mcp.call('get_review', { review_id })).structured.content_json.rating
    await signer.must('update_review_content_onchain', { review_id, content_json: second })
    await m.indexed()
    expect(await shown()).toBe(5)
    const bring = (content_json: string) => mcp.call('update_review_content', { review_id, content_json })
    expect(await bring(generic(1, 'Something else'))).toMatchObject({
      isError: true,
      text: expect.stringContaining('content hash mismatch'),
    })
    expect(await shown()).toBe(5)
    expect(await bring(second)).toMatchObject({ isError: false })
    expect(await shown()).toBe(2)
  })

  it('goes where the merchant sells now, and a plain transfer is charged at the price there, though the link names the former address', async () => {
    const { merchant, buyer } = m.market.accounts
    const { escrow_id, merchant_id, product_id } = await signer.must('pay_for_product', { ref_link })
    const moved = endpoint.replace('/jokes', '/better-jokes')
    const describe = (endpoint_url: string) =>
      must(
        m.call('POST', '/v1/merchant/product', {
          as: merchant,
          body: {
            merchant_id,
            product_id,
            endpoint_url,
            name: 'Jokes',
            description: 'By call',
            category: '',
          },
        }),
      )
    const asked: (string | undefined)[] = []
    const note = ({ url }: IncomingMessage) => void asked.push(url)
    await describe(moved)
    shop.on('request', note)
    const again = await signer.must('pay_for_product', { ref_link })
    expect(again.escrow_id).toBeGreaterThan(escrow_id)
    const token = ref_link.split('/r/')[1] ?? ''
    const { USDC, SplitRouter } = m.market.addresses
    const txHash = await m.market.client.writeContract({
      account: buyer,
      chain: null,
      address: USDC,
      abi: sandboxUSDCAbi,
      functionName: 'transfer',
      args: [SplitRouter, PRICE],
    })
    const charge = { txHash, attributionToken: token, chainId: m.chainId }
    const { signature } = await signer.must('sign_charge_commitment', {
      ...charge,
      splitRouterAddr: SplitRouter,
    })
    const charged = await fetch(`${place.facilitatorUrl}/mpp/charge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...charge, buyerSignature: signature }),
    })
    expect(await charged.json()).toMatchObject({ success: true })
    shop.off('request', note)
    await describe(endpoint)
    expect(new Set(asked)).toEqual(new Set([new URL(moved).pathname]))
    // The marketplace asks for its new price, too.
    expect(asked.length).toBeGreaterThanOrEqual(3)
  })

  it('is bound by the caps of the wallet that pays, with an agent and without, as soon as it is made', async () => {
    const { buyer } = m.market.accounts
    await m.indexed()
    const spent = MONEY - (await place.balanceOf(buyer.address))
    const body = { chain_id: m.chainId, total_cap_usdc: Number(spent + PRICE) }
    await must(m.call('POST', '/v1/spending-limits', { as: buyer, body }))
    await signer.must('pay_for_product', { ref_link })
    // At once: the marketplace need not have seen it.
    for (const named of [undefined, agent_id]) {
      expect(await signer.refusal('pay_for_product', { ref_link, agent_id: named })).toContain(
        `the price ${PRICE} exceeds the owner's remaining budget of 0 USDC base units`,
      )
    }
    await m.indexed()
    expect(await signer.refusal('pay_for_product', { ref_link })).toContain('remaining budget of 0')
    const tight = { chain_id: m.chainId, per_tx_cap_usdc: Number(PRICE) - 1 }
    await must(m.call('POST', '/v1/spending-limits', { as: buyer, body: tight }))
    expect(await signer.refusal('pay_for_product', { ref_link })).toContain("exceeds the owner's cap of")
    expect(MONEY - (await place.balanceOf(buyer.address))).toBe(spent + PRICE)
    await must(m.call('POST', '/v1/spending-limits', { as: buyer, body: { chain_id: m.chainId } }))
  })

  it('is not reviewed with what its category does not take, before gas is spent', async () => {
    const { escrow_id, merchant_id, product_id } = await signer.must('pay_for_product', order([other]))
    await m.indexed()
    const category = { name: 'Jokes', description: 'By call', category: 'api' }
    await must(
      m.call('POST', '/v1/merchant/product', {
        as: m.market.accounts.merchant,
        body: { merchant_id, product_id, endpoint_url: endpoint, ...category },
      }),
    )
    const sent = () => m.market.client.getTransactionCount({ address: m.market.accounts.buyer.address })
    const before = await sent()
    const call = { agent_id, merchant_id, product_id, escrow_id, content_json: generic(5, 'Works') }
    expect(await signer.refusal('publish_escrow_review', call)).toMatch(
      /^the marketplace would refuse this review: .*nothing was published$/,
    )
    expect(await sent()).toBe(before)
  })
})
