import { listProduct, mintUsdc, registerIdentity } from '@referrer/contracts/local'
import type { Hex } from 'viem'
import { keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/machinery/db/bytes.ts'
import { call, setAgentWallet } from '../calls.ts'
import { argsOf, published, signed, submit } from '../mcp/submitting.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { productOf } from './market.ts'
import { act } from './merchants.ts'
import {
  APPROVED,
  agentOf,
  BY_NOBODY,
  eip712,
  eip712Of,
  inputOf,
  looked,
  PRICE,
  pay,
  pendingWith,
  prove,
  type ReceiptWorld,
  startReceiptWorld,
} from './receipts.ts'
import { asAdmin, setFlag } from './town.ts'

const OTHER_RESOURCE = "the receipt is of another resource than the product's endpoint"
const NO_FORM = 'x402Receipt is not a receipt of the extension offer-receipt, version 1'

let world: ReceiptWorld
let agentId: bigint
/** A payment whose receipts are broken, so that it is never used. */
let paid: Hex

beforeAll(async () => {
  world = await startReceiptWorld()
  agentId = await agentOf(world)
  paid = await pay(world)
})
afterAll(() => world.close())

const submitted = async (proofData: object, of = agentId, as = world.owner) =>
  looked(world, await prove(world, of, proofData, as))

/** The market has asked the endpoint, which wants so much. */
async function seePrice(price: bigint): Promise<void> {
  const { m, product, endpoint } = world
  await m.sql`
    INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, price, seen_at, ask_at)
    VALUES (${m.chainId}, ${product.merchantId}, ${bytesOf(product.productId)}, ${endpoint}, ${price}, now(), 'infinity')
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET price = excluded.price`
}

describe('a receipt that the shop signed', () => {
  it('approves a proof of the tool without an admin, and a review is published on it', async () => {
    const { m, mcp, owner, product } = world
    const x402Receipt = await eip712(world, await pay(world))
    const { structured } = await mcp.call('submit_proof', {
      agent_id: Number(agentId),
      merchant_id: Number(product.merchantId),
      product_id: product.productId,
      proof_data: { x402Receipt },
    })
    expect(structured).toEqual({ proof_id: expect.any(Number), status: 'pending' })
    const proofId = structured.proof_id
    expect(await looked(world, proofId)).toMatchObject(APPROVED)
    const status = await mcp.call('get_proof_status', { agent_id: Number(agentId), proof_id: proofId })
    expect(status.structured).toEqual({ status: 'approved', reviewed_at: expect.any(String) })

    const desk = { m, mcp, owner, agentId, product }
    const { structured: review, text } = await submit(desk, await signed(desk, argsOf(desk, proofId)))
    expect(text).toContain('submitted')
    expect(await published(desk, review.review_id)).toMatchObject({ agent_id: Number(agentId) })
  })

  it('approves a proof of the route, with the transaction beside a receipt that names none, if that paid the price', async () => {
    const transaction = await pay(world)
    const x402Receipt = await eip712(world, undefined)
    const proof = { x402Receipt, transaction }
    const unknown = 'the receipt names no transaction, and the price of the product is not known'
    expect(await submitted(proof)).toMatchObject(pendingWith(unknown))
    await seePrice(PRICE + 1n)
    const less = 'the receipt names no transaction, and the one beside it paid less than the price'
    expect(await submitted(proof)).toMatchObject(pendingWith(less))
    await seePrice(PRICE)
    expect(await submitted(proof)).toMatchObject(APPROVED)
  })

  it('approves nothing that costs less than any purchase here', async () => {
    const transaction = await pay(world, { value: 9_999n })
    const x402Receipt = await eip712(world, transaction)
    const little = 'the transaction paid less than the lowest amount of a purchase here'
    expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(little))
  })

  it('may name the endpoint with more of a query', async () => {
    const x402Receipt = await eip712(world, await pay(world), { resourceUrl: `${world.endpoint}?unit=C#top` })
    expect(await submitted({ x402Receipt })).toMatchObject(APPROVED)
  })

  it('may be paid by the wallet of the agent, to the payout wallet, and signed by a settlement signer', async () => {
    const { m, merchant, merchantId, owner } = world
    const { buyer: wallet, stranger: payout, walletBuyer: signer } = m.market.accounts
    const other = await agentOf(world)
    const { timestamp } = await m.market.client.getBlock()
    const about = { agentId: other, wallet }
    await send(m, await setAgentWallet({ chainId: m.chainId, market: m.market }, owner, about, timestamp))
    await act(m, merchant, 'setPayoutWallet', merchantId, payout.address)
    const role = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))
    await send(m, call(m, merchant, 'MerchantRegistry', 'grantRole', [merchantId, role, signer.address]))
    await m.indexed()
    await mintUsdc(m.market, wallet.address, PRICE)
    const transaction = await pay(world, { from: wallet, to: payout.address })
    const x402Receipt = await eip712(world, transaction, { payer: wallet.address.toLowerCase() }, signer)
    expect(await submitted({ x402Receipt }, other)).toMatchObject(APPROVED)
    await act(m, merchant, 'setPayoutWallet', merchantId, merchant.address)
  })
})

describe('a receipt stays pending for an admin, with a note,', () => {
  it('that is of no known form', async () => {
    const receipt = await eip712(world, paid)
    for (const x402Receipt of [
      'a receipt',
      { ...receipt, format: 'pgp' },
      {
        format: 'eip712',
        payload: { ...(receipt as { payload: object }).payload, version: 2 },
        signature: receipt.signature,
      },
    ]) {
      expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(NO_FORM))
    }
    expect(await submitted({ x402Receipt: { format: 'jws', signature: 'e30.e30.AA' } })).toMatchObject(
      pendingWith('the JWS of the receipt has no header with alg and kid that we know'),
    )
  })

  it('that was changed after it was signed', async () => {
    const receipt = await eip712(world, paid)
    const { payload } = receipt as { payload: { issuedAt: number } }
    const x402Receipt = { ...receipt, payload: { ...payload, issuedAt: payload.issuedAt - 1 } }
    expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(BY_NOBODY))
  })

  it('that a stranger signed', async () => {
    const { m, owner } = world
    const x402Receipt = await eip712(world, paid, {}, m.market.accounts.guardian)
    expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(BY_NOBODY))
    const { proofs } = await must(m.call('GET', `/v1/agent/${agentId}/proofs?limit=1`, { as: owner }))
    expect(proofs).toEqual([expect.objectContaining({ status: 'pending', machine_note: BY_NOBODY })])
  })

  it.each([
    ['path', (endpoint: string) => `${endpoint}/more`],
    ['host', () => 'https://elsewhere.test/buy'],
    ['scheme', (endpoint: string) => endpoint.replace('http:', 'https:')],
  ])('that is of another %s', async (_, resourceUrl) => {
    const x402Receipt = await eip712(world, paid, { resourceUrl: resourceUrl(world.endpoint) })
    expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(OTHER_RESOURCE))
  })

  it('that somebody else paid', async () => {
    const { stranger } = world.m.market.accounts
    const x402Receipt = await eip712(world, paid, { payer: stranger.address })
    expect(await submitted({ x402Receipt })).toMatchObject(
      pendingWith('the payer of the receipt is neither the owner nor the wallet of the agent'),
    )
  })

  it('that is of another network', async () => {
    const x402Receipt = await eip712(world, paid, { network: 'eip155:8453' })
    expect(await submitted({ x402Receipt })).toMatchObject(
      pendingWith('the receipt is of another network than the proof'),
    )
  })

  it('that names no transaction, or another one than the proof, or one that is no hash', async () => {
    expect(await submitted({ x402Receipt: await eip712(world, undefined) })).toMatchObject(
      pendingWith('no transaction is named, neither in the receipt nor beside it as transaction'),
    )
    const transaction = `0x${'11'.repeat(32)}`
    expect(await submitted({ x402Receipt: await eip712(world, paid), transaction })).toMatchObject(
      pendingWith('the receipt names another transaction than the proof'),
    )
    expect(await submitted({ x402Receipt: await eip712(world, undefined), transaction: 7 })).toMatchObject(
      pendingWith('the transaction of the receipt is not a hash: 0x and 64 hex digits'),
    )
  })

  it('whose transaction paid somebody else, nothing, or through the split router', async () => {
    const { m } = world
    const { guardian } = m.market.accounts
    const nothing = 'the transaction paid no USDC from the payer to the merchant'
    for (const payment of [{ to: guardian.address }, { value: 0n }]) {
      const x402Receipt = await eip712(world, await pay(world, payment))
      expect(await submitted({ x402Receipt })).toMatchObject(pendingWith(nothing))
    }
    const x402Receipt = await eip712(world, await pay(world, { to: m.market.addresses.SplitRouter }))
    expect(await submitted({ x402Receipt })).toMatchObject(
      pendingWith('the payment went through the split router: the buyer reviews with its escrow'),
    )
  })

  it('whose transaction failed', async () => {
    const { m, owner, merchant } = world
    const failing = call(m, owner, 'USDC', 'transfer', [merchant.address, 10n ** 30n])
    await m.market.client.setAutomine(false)
    const hash = await m.market.client.sendTransaction({ ...failing, gas: 200_000n })
    await m.market.client.mine({ blocks: 1 })
    await m.market.client.setAutomine(true)
    const receipt = await m.market.client.getTransactionReceipt({ hash })
    expect(receipt.status).toBe('reverted')
    await m.market.client.mine({ blocks: 3 })
    expect(await submitted({ x402Receipt: await eip712(world, hash) })).toMatchObject(
      pendingWith('the transaction failed: nothing was paid'),
    )
  })

  it('that was issued in the future, or at another time than it was paid', async () => {
    const { payload } = (await eip712(world, paid)) as { payload: Parameters<typeof eip712Of>[0] }
    const at = async (seconds: number) => ({
      x402Receipt: await eip712Of({ ...payload, issuedAt: payload.issuedAt + seconds }, world.merchant),
    })
    const aheadSeconds = Math.ceil(world.m.clock.aheadMs / 1_000)
    expect(await submitted(await at(aheadSeconds + 3_600))).toMatchObject(
      pendingWith('the receipt was issued in the future'),
    )
    expect(await submitted(await at(-3_600))).toMatchObject(
      pendingWith('the receipt was not issued at the time of the payment'),
    )
  })

  it('whose transaction or receipt has proved something already, for whichever agent', async () => {
    const used = pendingWith('the receipt or its transaction has proved another purchase already')
    const transaction = await pay(world)
    const x402Receipt = await eip712(world, undefined)
    expect(await submitted({ x402Receipt, transaction })).toMatchObject(APPROVED)
    // The same receipt with another payment, and another receipt of the same payment.
    expect(await submitted({ x402Receipt, transaction: await pay(world) })).toMatchObject(used)
    const other = await agentOf(world)
    expect(await submitted({ x402Receipt: await eip712(world, transaction) }, other)).toMatchObject(used)
  })

  it('of a transaction that an admin has approved', async () => {
    const { m } = world
    const transaction = await pay(world)
    const first = await prove(world, agentId, {
      x402Receipt: await eip712(world, transaction, {}, m.market.accounts.guardian),
    })
    expect(await looked(world, first)).toMatchObject(pendingWith(BY_NOBODY))
    await must(asAdmin(m, `proofs/${first}/approve`))
    expect(await looked(world, first)).toMatchObject({ status: 'approved', by_machine: false })
    expect(await submitted({ x402Receipt: await eip712(world, transaction) })).toMatchObject(
      pendingWith('the receipt or its transaction has proved another purchase already'),
    )
  })

  it('of less than the lowest price of the product', async () => {
    const { m, merchant, merchantId, endpoint } = world
    const product = { merchantId, productId: productOf(2) }
    await listProduct(m.market, merchant, product, { minPrice: PRICE })
    await m.indexed()
    const texts = { name: 'Weather', description: 'Of tomorrow', category: 'books' }
    const body = {
      merchant_id: Number(merchantId),
      product_id: product.productId,
      endpoint_url: `${endpoint}?big=1`,
      ...texts,
    }
    await must(m.call('POST', '/v1/merchant/product', { as: merchant, body }))
    const big = { ...world, product }
    const resourceUrl = `${endpoint}?big=1&unit=C`
    const x402Receipt = await eip712(world, await pay(world, { value: PRICE - 1n }), { resourceUrl })
    expect(await looked(world, await prove(big, agentId, { x402Receipt }))).toMatchObject(
      pendingWith('the transaction paid less than the lowest price of the product'),
    )
    const dear = await pay(world)
    const cheap = await prove(big, agentId, { x402Receipt: await eip712(world, dear) })
    expect(await looked(world, cheap)).toMatchObject(pendingWith(OTHER_RESOURCE))
    const right = await prove(big, agentId, { x402Receipt: await eip712(world, dear, { resourceUrl }) })
    expect(await looked(world, right)).toMatchObject(APPROVED)
  })

  it('of an agent that belongs to the merchant, or is flagged', async () => {
    const { m, merchant } = world
    const own = await registerIdentity(m.market, merchant)
    await m.indexed()
    const x402Receipt = await eip712(world, paid, inputOf(world, paid, { payer: merchant.address }))
    expect(await submitted({ x402Receipt }, own, merchant)).toMatchObject(
      pendingWith('the agent and the merchant belong to the same account'),
    )
    const bad = await agentOf(world)
    await prove(world, bad, { seen: 'it' })
    await setFlag(m, { agentId: bad }, 'flag')
    expect(await submitted({ x402Receipt: await eip712(world, paid) }, bad)).toMatchObject(
      pendingWith('the agent is flagged'),
    )
  })
})
