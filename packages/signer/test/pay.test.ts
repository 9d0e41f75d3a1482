import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { confirmed, listProduct } from '@referrer/contracts/local'
import { Attribution, Authorization, X402 } from '@referrer/protocol'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSigner, type TestSigner } from './signer.ts'
import { PRICE, startWorld, type World } from './world.ts'

let w: World
let signer: TestSigner
/** The same keys on another machine, with pins instead of the marketplace's word. */
let elsewhere: TestSigner

beforeAll(async () => {
  w = await startWorld(18)
  const { REFERRER_AGENT_MCP_URL: _, ...env } = w.env
  const [pin] = JSON.parse(w.m.env.ATTESTATION_PUBLIC_KEYS ?? '')[w.m.chainId]
  signer = await startSigner(w.env)
  elsewhere = await startSigner({
    ...env,
    ATTESTATION_PUB_KEYS: pin,
    AGENT_PRIVATE_KEY: w.wallets[1]?.key ?? '',
    ALLOW_UNREADABLE_CAPS: 'true',
  })
})
afterAll(async () => {
  await Promise.all([signer?.close(), elsewhere?.close()])
  await w?.close()
})
beforeEach(() => {
  w.buying.behave = undefined
  w.buying.asked.length = 0
  w.standIn.asked.length = 0
})

const escrowIn = async (hash: `0x${string}`) => (await w.m.escrowsIn(hash))[0]

describe('a purchase', () => {
  it('by an agent pays the price of max_amount and returns what there is to know [SIGN-34, SIGN-37, SIGN-38, SIGN-39, SIGN-40, SIGN-41, REF-33, REF-35, REF-36, REF-37 otherwise, REF-38]', async () => {
    const wallet = w.next()
    const paid = await signer.must('pay_for_product', {
      ref_link: await w.link(),
      agent_id: wallet.agentId,
      max_amount: String(PRICE),
    })
    expect(await escrowIn(paid.tx_hash)).toMatchObject({
      escrowId: BigInt(paid.escrow_id),
      payer: wallet.account.address,
      buyerAgentId: BigInt(wallet.agentId),
      price: PRICE,
    })
    expect(paid).toMatchObject({ amount: Number(PRICE), votes_recorded: 0, votes_error: null })
    expect(JSON.parse(paid.resource.body)).toMatchObject({ joke: 'a good one', transaction: paid.tx_hash })
    expect(paid.next_steps.join()).toContain(`publish_escrow_review`)
    expect(await w.spent(wallet)).toBe(PRICE)

    const [probe, retry] = w.buying.asked
    expect(w.buying.asked).toHaveLength(2)
    expect(probe?.headers['x-referrer-token']).toBe(new URL(await w.link()).pathname.slice(3))
    expect(probe?.headers['x-referrer-buyer-agent-id']).toBe(wallet.agentId)
    expect(Object.keys(retry?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([])
    const { header, payload } = w.sent()
    expect(header).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(payload.payload.authorization.to).toBe(w.m.till.router)
    expect(payload.extensions.buyerAgentId).toBe(wallet.agentId)
  })

  it('asks the shop for what is wanted, when it asks for the price and when it pays', async () => {
    const { agentId } = w.next()
    const wanted = { ref_link: await w.link(), agent_id: agentId }
    await signer.must('pay_for_product', { ...wanted, request: { query: 'city=New York&days=3' } })
    const body = '{"text":"Größe"}'
    await signer.must('pay_for_product', { ...wanted, request: { body } })
    const length = String(Buffer.byteLength(body))
    const type = 'application/json'
    expect(
      w.buying.asked.map(({ method, url, headers }) => [
        method,
        url,
        headers['content-type'],
        headers['content-length'],
      ]),
    ).toEqual([
      ['GET', '/buy?city=New+York&days=3', undefined, undefined],
      ['GET', '/buy?city=New+York&days=3', undefined, undefined],
      ['POST', '/buy', type, length],
      ['POST', '/buy', type, length],
    ])
  })

  it('without an agent is in nobody’s name [SIGN-43, REF-36, SIGN-30]', async () => {
    const paid = await elsewhere.must('pay_for_product', { ref_link: await w.link() })
    const { buyerAgentId, payer } = (await escrowIn(paid.tx_hash)) ?? {}
    expect(buyerAgentId).toBe(Attribution.AGENTLESS_BUYER_ID)
    expect(payer).toBe(w.wallets[1]?.account.address)
    expect(w.buying.asked[0]?.headers).not.toHaveProperty('x-referrer-buyer-agent-id')
    expect(w.sent().payload.extensions).not.toHaveProperty('buyerAgentId')
    expect(paid.next_steps[0]).toContain('bind_escrow')
  })

  it.each(['0', 0])('by agent 0 (%j) is not one without an agent [SIGN-45]', async (agent_id) => {
    const paid = await signer.must('pay_for_product', { ref_link: await w.link(), agent_id })
    expect(await escrowIn(paid.tx_hash)).toMatchObject({ buyerAgentId: 0n })
  })

  it('through a link of either key that the manifest names is paid, and of no other', async () => {
    const wallet = w.next()
    // The facilitator of this test knows only the key before.
    await signer.must('pay_for_product', { ref_link: await w.link(), agent_id: wallet.agentId })
    const newest = { ref_link: await w.link({}, 0xa2), agent_id: wallet.agentId }
    expect(await signer.refusal('pay_for_product', newest)).toContain('phase 2: expected 200')
    const forged = { ref_link: await w.link({}, 0xbad), agent_id: wallet.agentId }
    expect(await signer.refusal('pay_for_product', forged)).toContain('the ref link does not hold')
  })

  it('is made again without a key, and never with one [SIGN-35 otherwise, SIGN-36]', async () => {
    const wallet = w.next()
    const order = { ref_link: await w.link(), agent_id: wallet.agentId }
    await signer.must('pay_for_product', order)
    const paid = await signer.must('pay_for_product', { ...order, idempotency_key: 'one' })
    expect(await w.spent(wallet)).toBe(2n * PRICE)

    const again = { ...order, idempotency_key: 'one' }
    const already = `already paid: the purchase of this idempotency_key is escrow ${paid.escrow_id}`
    expect(await signer.refusal('pay_for_product', again)).toContain(already)
    // The link of the same review, minted anew.
    const fresh = await w.link({ issuedAt: 1_750_000_001 })
    expect(await signer.refusal('pay_for_product', { ...again, ref_link: fresh })).toContain(already)
    // Without the journal the chain knows.
    expect(await elsewhere.refusal('pay_for_product', again)).toContain(already)
    const productId = numberToHex(0xb7, { size: 32 })
    await listProduct(w.m.market, w.m.merchant.account, { ...w.m.merchant, productId })
    expect(
      await signer.refusal('pay_for_product', { ...again, ref_link: await w.link({ productId }) }),
    ).toContain('this idempotency_key was used for product')
    expect(await w.spent(wallet)).toBe(2n * PRICE)
  })

  it('is never by a bare transfer, whatever the shop advertises', async () => {
    const wallet = w.next()
    const order = { ref_link: await w.link(), agent_id: wallet.agentId }
    for (const advertised of [undefined, 'TransferWithAuthorization']) {
      w.buying.behave = w.offering(({ accepts }) => {
        accepts[0].extra.authorizationType = advertised
      })
      const paid = await signer.must('pay_for_product', order)
      const { payload, extensions } = w.sent().payload
      const { authorization, signature } = payload
      const domain = { ...w.m.till.token, chainId: w.m.chainId, verifyingContract: w.m.till.usdc }
      expect(await Authorization.recover('ReceiveWithAuthorization', domain, authorization, signature)).toBe(
        wallet.account.address,
      )
      const { attributionSalt: salt, buyerAgentId } = extensions
      const promised = Attribution.from(w.m.till.terms, {
        buyerAgentId: String(buyerAgentId),
        salt: salt as Hex,
      })
      expect(authorization.nonce).toBe(Attribution.attributionNonce(promised))
      expect(await escrowIn(paid.tx_hash)).toMatchObject({ reviewerAgentId: w.m.reviewer.agentId })
    }
    expect(await w.spent(wallet)).toBe(2n * PRICE)
  })

  it('reads the first offer only, and the header where the body has none [REF-24]', async () => {
    const wallet = w.next()
    const order = { ref_link: await w.link(), agent_id: wallet.agentId }
    w.buying.behave = w.offering((offer) => {
      offer.accepts.push({ ...offer.accepts[0], amount: '1' })
    })
    expect(await signer.must('pay_for_product', order)).toMatchObject({ amount: Number(PRICE) })

    w.buying.behave = w.offering((offer, response) => {
      response.setHeader(X402.PAYMENT_REQUIRED_HEADER, X402.encodeHeader(offer, 'standard'))
      offer.accepts.length = 0
    })
    await signer.must('pay_for_product', order)
    expect(await w.spent(wallet)).toBe(2n * PRICE)
  })
})

describe('nothing is paid', () => {
  const refusedFor = async (change: Record<string, unknown>, from = signer) => {
    const wallet = w.next()
    const message = await from.refusal('pay_for_product', {
      ref_link: await w.link(),
      agent_id: wallet.agentId,
      ...change,
    })
    expect(await w.spent(wallet)).toBe(0n)
    expect(w.buying.asked.every(({ headers }) => !headers['payment-signature'])).toBe(true)
    return message
  }
  const vote = { review_id: 5, reasoning: 'It helped.' }

  it('for an order that is not whole [SIGN-30, SIGN-31, SIGN-32, SIGN-44]', async () => {
    const ref_link = await w.link()
    expect(await signer.refusal('pay_for_product', { agent_id: '2' })).toContain('ref_link')
    for (const order of [
      { agent_id: 'abc' },
      { agent_id: '-1' },
      { agent_id: -1 },
      { agent_id: 1.5 },
      { agent_id: 2 ** 53 },
      { max_amount: '1.5' },
      { max_ammount: '1' },
      { agent_id: '2', submit_votes: [{ ...vote, reasoning: ' ' }] },
      { agent_id: '2', submit_votes: [vote, vote] },
      { ref_link: 'https://market.test/other' },
      { ref_link: `${ref_link}A` },
    ]) {
      await signer.refusal('pay_for_product', { ref_link, ...order })
    }
    const votes = (submit_votes: unknown[]) =>
      signer.refusal('pay_for_product', { ref_link, agent_id: '2', submit_votes })
    expect(await votes([])).toBe('votes must contain 1–3 items, got 0: invalid input')
    const four = [1, 2, 3, 4].map((review_id) => ({ ...vote, review_id }))
    expect(await votes(four)).toBe('votes must contain 1–3 items, got 4: invalid input')
    expect(await signer.refusal('pay_for_product', { ref_link, submit_votes: [vote] })).toContain(
      'submit_votes needs agent_id',
    )
    expect(w.buying.asked).toEqual([])
  })

  it('above max_amount [SIGN-33]', async () => {
    expect(await refusedFor({ max_amount: String(PRICE - 1n) })).toBe(
      `live price ${PRICE} exceeds max_amount ${PRICE - 1n}; nothing was paid`,
    )
  })

  it('where the shop does not ask for money [SIGN-88]', async () => {
    w.buying.behave = (_request, response) => response.writeHead(200).end('free')
    expect(await refusedFor({})).toBe('phase 1: expected 402, got 200; nothing was paid')
  })

  it('on another chain [SIGN-79, SIGN-80, SIGN-87]', async () => {
    const asked: string[] = []
    const stub = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
      asked.push(method)
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: numberToHex(999) }))
    })
    await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
    const BASE_RPC_URL = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
    const astray = await startSigner({ ...w.env, BASE_RPC_URL })
    const lost = await startSigner({ ...w.env, CHAIN_ID: '84532' })
    try {
      expect(await refusedFor({}, astray)).toBe(
        'wrong chain: BASE_RPC_URL serves chain 999, and CHAIN_ID is 31337',
      )
      expect(asked).toEqual(['eth_chainId'])
      const bind = { agent_id: w.wallets[1]?.agentId, escrow_id: 1 }
      expect(await astray.refusal('bind_escrow', bind)).toMatch(/^wrong chain: /)
      expect(await astray.refusal('bind_escrow', { ...bind, chain_id: 1 })).toMatch(
        /^wrong chain: asked for chain 1/,
      )
      expect(await refusedFor({}, lost)).toBe(
        'wrong chain: the ref link is for chain 31337, and the signer is set to 84532',
      )
      expect(await lost.refusal('bind_escrow', bind)).toMatch(/^wrong chain: BASE_RPC_URL serves chain 31337/)
    } finally {
      await Promise.all([astray.close(), lost.close()])
      stub.close()
    }
  })
})

describe('votes', () => {
  const submit_votes = [{ review_id: 5, reasoning: 'It helped.' }]

  it('are cast at the marketplace once it knows the purchase [SIGN-83, SIGN-40]', async () => {
    const wallet = w.next()
    const { cast_review_votes: cast } = w.standIn.says
    let isKnown = false
    w.standIn.says.cast_review_votes = (input) => {
      if (!input.agent_sig || isKnown) return cast?.(input) ?? {}
      isKnown = true
      throw new Error('purchase for escrow 1 not found (not yet indexed — retry shortly): not found')
    }
    const order = { ref_link: await w.link(), agent_id: wallet.agentId, submit_votes }
    const paid = await signer.must('pay_for_product', order)
    expect(paid).toMatchObject({ votes_recorded: 1, votes_error: null })
    const calls = w.standIn.asked.filter(({ tool }) => tool === 'cast_review_votes')
    expect(calls).toHaveLength(3)
    expect(calls.at(-1)?.input).toMatchObject({ escrow_id: paid.escrow_id, votes: submit_votes })
    if (cast) w.standIn.says.cast_review_votes = cast
  })

  it('that fail leave a purchase that succeeded [SIGN-41, SIGN-42]', async () => {
    const wallet = w.next()
    const { cast_review_votes: cast } = w.standIn.says
    w.standIn.says.cast_review_votes = () => {
      throw new Error('review 5 is not published: invalid input')
    }
    const order = { ref_link: await w.link(), agent_id: wallet.agentId, submit_votes }
    const paid = await signer.must('pay_for_product', order)
    expect(paid).toMatchObject({ votes_recorded: 0, votes_error: 'review 5 is not published: invalid input' })
    expect(await escrowIn(paid.tx_hash)).toMatchObject({ escrowId: BigInt(paid.escrow_id) })
    if (cast) w.standIn.says.cast_review_votes = cast
  })
})

it('signs charges that the facilitator takes, of agents and of none [SIGN-29]', async () => {
  const wallet = w.wallets[1] ?? w.next()
  const attributionToken = await w.m.mint({ merchantEndpoint: w.m.shop.url })
  for (const buyerAgentId of [wallet.agentId, undefined]) {
    const txHash = await w.m.chain.client.writeContract({
      account: wallet.account,
      address: w.m.till.usdc,
      abi: sandboxUSDCAbi,
      functionName: 'transfer',
      args: [w.m.till.router, PRICE],
    })
    await confirmed(w.m.market, txHash)
    const body = { txHash, attributionToken, chainId: w.m.chainId, ...(buyerAgentId && { buyerAgentId }) }
    const { signature } = await elsewhere.must('sign_charge_commitment', {
      ...body,
      splitRouterAddr: w.m.till.router,
    })
    const answer = await w.m.call('POST', '/mpp/charge', { body: { ...body, buyerSignature: signature } })
    expect(answer.body).toMatchObject({ success: true, payer: wallet.account.address })
    expect(await escrowIn(answer.body.transaction)).toMatchObject({
      buyerAgentId: buyerAgentId ? BigInt(buyerAgentId) : Attribution.AGENTLESS_BUYER_ID,
    })
  }
})

it('tells what its wallets have and may pay, and no key [SIGN-104]', async () => {
  const [, wallet] = w.wallets
  const { wallets, chain_id, limits } = await signer.must('get_wallet_status')
  expect(limits).toMatchObject({ max_per_purchase: '5000000', max_per_day: null })
  expect(chain_id).toBe(w.m.chainId)
  const found = wallets.find(({ agent_id }: { agent_id: string }) => agent_id === wallet?.agentId)
  expect(found).toMatchObject({ address: wallet?.account.address, owns_agent: true, problem: null })
  expect(BigInt(found.usdc)).toBe(await w.m.balanceOf(found.address))
  for (const { key } of w.wallets) expect(signer.said() + elsewhere.said()).not.toContain(key.slice(2))
})
