// What shops, links and accidents may do to a buyer. Each time the money tells: nothing was paid, or exactly one price.
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { confirmed, listProduct } from '@referrer/contracts/local'
import { Attribution, Authorization, X402 } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'
import { numberToHex, zeroHash } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { otherReviewer } from '../../facilitator/test/abuse/acts.ts'
import { newStateDir, startSigner, type TestSigner } from './signer.ts'
import { PRICE, startWorld, type Wallet, type World } from './world.ts'

let w: World
let signer: TestSigner
/** A second process with the same keys and the same journal, and less patience. */
let second: TestSigner
const SIGNER_STATE_DIR = newStateDir()
const program = new URL('program.ts', import.meta.url)
const start = (env: Record<string, string> = {}) =>
  startSigner({ ...w.env, SIGNER_STATE_DIR, TIMEOUTS: JSON.stringify(IMPATIENT), ...env }, { program })
/** Of what does not come. */
const IMPATIENT = { settled: 1_000, indexed: 1_000 }

beforeAll(async () => {
  w = await startWorld(41)
  ;[signer, second] = await Promise.all([startSigner({ ...w.env, SIGNER_STATE_DIR }), start()])
})
afterAll(async () => {
  await Promise.all([signer?.close(), second?.close()])
  await w?.close()
})
beforeEach(() => {
  w.buying.behave = undefined
  w.buying.asked.length = 0
})

const order = async (wallet: Wallet, more: object = {}) => ({
  ref_link: await w.link(),
  agent_id: wallet.agentId,
  ...more,
})
const payments = () => w.buying.asked.filter(({ headers }) => headers['payment-signature']).length
const isPayment = ({ headers }: World['buying']['asked'][number]) =>
  headers['payment-signature'] !== undefined
const TRANSACTION = `0x${'7e'.repeat(32)}`

/** What was signed and not used is void after that. */
async function letExpire(): Promise<void> {
  await w.m.chain.client.increaseTime({ seconds: 120 })
  await w.m.chain.client.mine({ blocks: 1 })
}

/** Has a payment settled as the honest shop would, for any amount. */
async function settle(
  header: string,
  amount = PRICE,
): Promise<{ success: boolean; transaction: `0x${string}` }> {
  const paymentPayload = X402.decodeHeader(header)
  const paymentRequirements = { ...(w.m.shop.offer as object), amount: String(amount) }
  return (await w.m.settle({ x402Version: 2, paymentPayload, paymentRequirements })).body
}

describe('a shop gets nothing', () => {
  it.each<
    [string, (offer: { accepts: Record<string, unknown>[]; extensions: Record<string, unknown> }) => void]
  >([
    [
      'to its own wallet',
      (offer) => void Object.assign(offer.accepts[0] ?? {}, { payTo: w.m.merchant.account.address }),
    ],
    [
      'in another token',
      (offer) => void Object.assign(offer.accepts[0] ?? {}, { asset: w.m.merchant.account.address }),
    ],
    ['on another chain', (offer) => void Object.assign(offer.accepts[0] ?? {}, { network: 'eip155:8453' })],
    ['by another scheme', (offer) => void Object.assign(offer.accepts[0] ?? {}, { scheme: 'upto' })],
    [
      'for a token of another name',
      (offer) => void Object.assign(offer.accepts[0] ?? {}, { extra: { name: 'Permit', version: '2' } }),
    ],
    ['for another link', (offer) => void Object.assign(offer.extensions, { attributionToken: 'another' })],
    ['of a price that is no number', (offer) => void Object.assign(offer.accepts[0] ?? {}, { amount: '-1' })],
    ['without an offer', (offer) => void offer.accepts.pop()],
  ])('%s', async (_, change) => {
    const [wallet] = w.wallets.slice(-1) as [Wallet]
    w.buying.behave = w.offering(change)
    const message = await signer.refusal('pay_for_product', await order(wallet))
    expect(message).toMatch(/^the shop's offer is refused: .*; nothing was paid$/)
    expect(payments()).toBe(0)
    expect(await w.spent(wallet)).toBe(0n)
  })

  it('through a link to another router, or one that the marketplace did not sign', async () => {
    const [wallet] = w.wallets.slice(-1) as [Wallet]
    const elsewhere = await w.link({ splitRouter: w.m.merchant.account.address })
    expect(await signer.refusal('pay_for_product', await order(wallet, { ref_link: elsewhere }))).toContain(
      'the ref link names the split router',
    )
    const forged = await w.link({}, 0xbad)
    expect(await signer.refusal('pay_for_product', await order(wallet, { ref_link: forged }))).toContain(
      'the ref link does not hold',
    )
    expect(w.buying.asked).toEqual([])
  })

  it('by leading elsewhere, saying nothing or saying too much', async () => {
    const [wallet] = w.wallets.slice(-1) as [Wallet]
    const refusal = async () => second.refusal('pay_for_product', await order(wallet))
    w.buying.behave = (_request, response) =>
      response.writeHead(302, { location: `${w.buying.url}/inside` }).end()
    expect(await refusal()).toBe('phase 1: expected 402, got 302; nothing was paid')
    w.buying.behave = () => {}
    const hasty = await start({ TIMEOUTS: JSON.stringify({ ...IMPATIENT, probe: 1_000 }) })
    expect(await hasty.refusal('pay_for_product', await order(wallet))).toBe(
      'phase 1: the shop gives no answer (timed out); nothing was paid',
    )
    await hasty.client.close()
    w.buying.behave = (_request, response) => response.writeHead(402).end(Buffer.alloc(50_000_000, ' '))
    expect(await refusal()).toContain('phase 1: the shop gives no answer (more than')
    expect(w.buying.asked).toHaveLength(3)
  })

  it('in the network of the signer, unless that is allowed', async () => {
    const careful = await start({ ALLOW_PRIVATE_HOSTS: 'false' })
    const [wallet] = w.wallets.slice(-1) as [Wallet]
    expect(await careful.refusal('pay_for_product', await order(wallet))).toContain('127.0.0.1 is not public')
    expect(w.buying.asked).toEqual([])
    await careful.client.close()
  })

  it('from a caller that has given up', async () => {
    const wallet = w.next()
    const giveUp = new AbortController()
    const asked = Promise.withResolvers<void>()
    const isCancelled = Promise.withResolvers<void>()
    w.buying.behave = async (_request, _response, honest) => {
      asked.resolve()
      await isCancelled.promise
      await honest()
    }
    const call = signer.client.callTool(
      { name: 'pay_for_product', arguments: await order(wallet) },
      { signal: giveUp.signal },
    )
    await asked.promise
    giveUp.abort()
    await expect(call).rejects.toThrow()
    // What is said later arrives later: the cancellation is there by now.
    await signer.must('get_wallet_status', { agent_id: wallet.agentId })
    isCancelled.resolve()
    // In the same queue, so the other call has ended before.
    await signer.must('pay_for_product', await order(wallet))
    expect(payments()).toBe(1)
    expect(await w.spent(wallet)).toBe(PRICE)
  })
})

describe('after paying', () => {
  it('a higher price than was shown is not paid, and trying again waits until that is certain', async () => {
    const wallet = w.next()
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return honest()
      const { success } = await settle(String(request.headers['payment-signature']), 2n * PRICE)
      response.writeHead(success ? 200 : 402).end('{"error":"pay more"}')
    }
    const message = await signer.refusal('pay_for_product', await order(wallet))
    expect(message).toMatch(
      /^phase 2: expected 200, got 402 \(the shop says "pay more"\)\. Nothing has been paid so far/,
    )
    w.buying.behave = undefined
    for (const process of [signer, second]) {
      expect(await process.refusal('pay_for_product', await order(wallet))).toMatch(
        /^an earlier purchase of this product is not decided yet\. Nothing has been paid so far.*Do not pay again until 20\d\d-/,
      )
    }
    expect(await w.spent(wallet)).toBe(0n)
    await letExpire()
    await second.must('pay_for_product', await order(wallet))
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('an answer other than 200 is a failure that tells where the money is [SIGN-89]', async () => {
    const [unpaid, paid] = [w.next(), w.next()]
    w.buying.behave = (request, response, honest) =>
      isPayment(request) ? response.writeHead(500).end('no') : honest()
    expect(await signer.refusal('pay_for_product', await order(unpaid))).toMatch(
      /^phase 2: expected 200, got 500\. Nothing has been paid so far/,
    )
    expect(await w.spent(unpaid)).toBe(0n)

    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return honest()
      await settle(String(request.headers['payment-signature']))
      response.writeHead(500).end('no')
    }
    expect(await signer.refusal('pay_for_product', await order(paid, { idempotency_key: 'a' }))).toMatch(
      /^phase 2: expected 200, got 500\. The payment went through: 1000000 USDC base units, escrow \d+, transaction 0x/,
    )
    expect(await signer.refusal('pay_for_product', await order(paid, { idempotency_key: 'a' }))).toContain(
      'already paid',
    )
    expect(await w.spent(paid)).toBe(PRICE)
  })

  it('409 with a time, as shops answer while another process has the payment, is waited for, and the same payment is sent again', async () => {
    const wallet = w.next()
    let isFirst = true
    w.buying.behave = (request, response, honest) => {
      if (!isPayment(request) || !isFirst) return honest()
      isFirst = false
      response.writeHead(409, { 'retry-after': '1' }).end('{"error":"under way"}')
    }
    await signer.must('pay_for_product', await order(wallet))
    const sent = w.buying.asked.flatMap(({ headers }) => headers['payment-signature'] ?? [])
    expect(sent).toHaveLength(2)
    expect(new Set(sent).size).toBe(1)
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('409 without a time, or with one that is too far, ends the call at once', async () => {
    for (const headers of [{}, { 'retry-after': '60' }, { 'retry-after': 'soon' }]) {
      w.buying.asked.length = 0
      w.buying.behave = (request, response, honest) =>
        isPayment(request) ? response.writeHead(409, headers).end('{"error":"under way"}') : honest()
      expect(await second.refusal('pay_for_product', await order(w.next()))).toMatch(
        /^phase 2: expected 200, got 409 \(the shop says "under way"\)\. Nothing has been paid so far/,
      )
      expect(payments()).toBe(1)
    }
  })

  it('504 of a payment that can still be used says until when, and nothing is paid anew before', async () => {
    const wallet = w.next()
    let until = 0
    w.buying.behave = (request, response, honest) => {
      if (!isPayment(request)) return honest()
      const { authorization } = X402.PaymentPayload.deserialize(String(request.headers['payment-signature']))
        .payload as { authorization: { validBefore: string } }
      until = Number(authorization.validBefore)
      response.writeHead(504).end(JSON.stringify({ error: 'do not pay again', until }))
    }
    const hasty = await start({ TIMEOUTS: JSON.stringify({ ...IMPATIENT, pay: 1_000 }) })
    const said = await hasty.refusal('pay_for_product', await order(wallet))
    await hasty.client.close()
    const named = /Do not pay again until (\S+);/.exec(said)?.[1] ?? expect.fail(said)
    expect(Date.parse(named) / 1_000).toBeGreaterThanOrEqual(until)
    w.buying.behave = undefined
    expect(await second.refusal('pay_for_product', await order(wallet))).toContain('is not decided yet')
    expect(await w.spent(wallet)).toBe(0n)
    await letExpire()
    await second.must('pay_for_product', await order(wallet))
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('a 200 without a transaction is a failed purchase, whether or not it was paid [REF-31]', async () => {
    const [unpaid, paid] = [w.next(), w.next()]
    w.buying.behave = (request, response, honest) =>
      isPayment(request) ? response.writeHead(200).end('{"joke":"on you"}') : honest()
    expect(await signer.refusal('pay_for_product', await order(unpaid))).toMatch(
      /^the purchase failed: the shop answered 200 without a transaction\. Nothing has been paid so far/,
    )
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return honest()
      await settle(String(request.headers['payment-signature']))
      response.writeHead(200).end('{"joke":"a good one"}')
    }
    expect(await signer.refusal('pay_for_product', await order(paid))).toMatch(
      /200 without a transaction\. The payment went through: .*escrow \d+, transaction 0x/,
    )
    expect([await w.spent(unpaid), await w.spent(paid)]).toEqual([0n, PRICE])
  })

  it('a claim that the chain does not confirm is not believed', async () => {
    const [wallet, other] = [w.next(), w.next()]
    const claiming =
      (transaction: string): World['buying']['behave'] =>
      (request, response, honest) =>
        isPayment(request) ? response.writeHead(200).end(JSON.stringify({ transaction })) : honest()
    w.buying.behave = claiming(TRANSACTION)
    expect(await second.refusal('pay_for_product', await order(wallet))).toMatch(
      /nothing proves it on the chain\. Nothing has been paid so far/,
    )
    w.buying.behave = undefined
    const { tx_hash } = await signer.must('pay_for_product', await order(other))
    await letExpire()
    w.buying.behave = claiming(tx_hash)
    expect(await second.refusal('pay_for_product', await order(wallet))).toContain('event-not-found')
    expect([await w.spent(wallet), await w.spent(other)]).toEqual([0n, PRICE])
  })

  it('the true transaction is told where a shop names another', async () => {
    const wallet = w.next()
    let settled: string | undefined
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return honest()
      settled = (await settle(String(request.headers['payment-signature']))).transaction
      response.writeHead(200).end(JSON.stringify({ transaction: TRANSACTION }))
    }
    expect((await signer.must('pay_for_product', await order(wallet))).tx_hash).toBe(settled)
  })

  it('silence, a redirect and an endless answer end, and tell where the money is', async () => {
    const [silent, led, flooded] = [w.next(), w.next(), w.next()]
    w.buying.behave = (request, _response, honest) => (isPayment(request) ? undefined : honest())
    const hasty = await start({ TIMEOUTS: JSON.stringify({ ...IMPATIENT, pay: 1_000 }) })
    expect(await hasty.refusal('pay_for_product', await order(silent))).toMatch(
      /^phase 2: the shop gives no answer \(timed out\)\. Nothing has been paid so far/,
    )
    await hasty.client.close()
    w.buying.behave = (request, response, honest) =>
      isPayment(request) ? response.writeHead(307, { location: w.m.facilitator.url }).end() : honest()
    expect(await second.refusal('pay_for_product', await order(led))).toMatch(
      /^phase 2: expected 200, got 307\. Nothing/,
    )
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return honest()
      await settle(String(request.headers['payment-signature']))
      response.writeHead(200).end(randomBytes(50_000_000))
    }
    expect(await signer.refusal('pay_for_product', await order(flooded))).toMatch(
      /^phase 2: the shop gives no answer \(more than .*\)\. The payment went through/,
    )
    expect([await w.spent(silent), await w.spent(led), await w.spent(flooded)]).toEqual([0n, 0n, PRICE])
  })

  it('what was paid and not served is handed to the shop again with the same key, and paid once [SIGN-35 otherwise]', async () => {
    const wallet = w.next()
    const wanted = { ...(await order(wallet)), idempotency_key: 'a joke, at last' }
    w.buying.isOut = true
    expect(await signer.refusal('pay_for_product', wanted)).toMatch(
      /^phase 2: expected 200, got 500.* The payment went through: .*call again with the same idempotency_key/,
    )
    const { header } = w.sent()
    expect(await signer.refusal('pay_for_product', wanted)).toMatch(
      /^already paid: .*escrow \d+, transaction 0x.*; nothing was paid again. The shop was handed the payment once more: phase 2: expected 200, got 500/,
    )
    w.buying.isOut = false
    const other = { ...wanted, request: { query: 'about=cats' } }
    expect(await signer.refusal('pay_for_product', other)).toMatch(
      /^already paid: .*; nothing was paid again for another request \(no query\)/,
    )
    const served = await signer.must('pay_for_product', wanted)
    expect(served.resource.body).toContain('a good one')
    expect(served.next_steps.join(' ')).toContain('nothing was paid again')
    expect(w.sent().header).toBe(header)
    expect(await signer.refusal('pay_for_product', wanted)).toContain(
      `already paid: the purchase of this idempotency_key is escrow ${served.escrow_id}`,
    )
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('what was paid is handed to the shop again and told also where the merchant has closed since; nothing new is bought then', async () => {
    const wallet = w.next()
    const wanted = { ...(await order(wallet)), idempotency_key: 'before it closes' }
    w.buying.isOut = true
    expect(await signer.refusal('pay_for_product', wanted)).toContain('The payment went through')
    w.standIn.isClosed = true
    try {
      expect(await signer.refusal('pay_for_product', wanted)).toMatch(/^already paid: /)
      w.buying.isOut = false
      const served = await signer.must('pay_for_product', wanted)
      expect(served.resource.body).toContain('a good one')
      expect(await signer.refusal('pay_for_product', await order(wallet))).toMatch(
        /^the ref link is closed: .*; nothing was paid$/,
      )
    } finally {
      w.standIn.isClosed = false
      w.buying.isOut = false
    }
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('the agent is who asked, whatever agent the shop names', async () => {
    const wallet = w.next()
    w.buying.behave = w.offering(({ extensions }) => {
      extensions.buyerAgentId = '1'
    })
    await signer.must('pay_for_product', await order(wallet))
    expect(w.sent().payload.extensions.buyerAgentId).toBe(wallet.agentId)
  })
})

describe('the reviewer of the link', () => {
  it('stays the reviewer where a shop leaves out the kind of authorisation, swaps the link and drops the salt', async () => {
    const wallet = w.next()
    const other = await otherReviewer(w.m, w.m.market.accounts.stranger, 77n)
    const theirs = await w.m.mint({ ...other.terms, cashbackOfCommissionBps: 0 })
    const answers: { success: boolean; errorMessage?: string }[] = []
    const offering = w.offering(({ accepts }) => {
      delete accepts[0].extra.authorizationType
    })
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return offering(request, response, honest)
      const paymentPayload = X402.decodeHeader(String(request.headers['payment-signature'])) as {
        accepted: { extra: object }
        extensions: Record<string, unknown>
      }
      const { attributionSalt: _, ...extensions } = paymentPayload.extensions
      const { body } = await w.m.settle({
        x402Version: 2,
        paymentPayload: { ...paymentPayload, extensions: { ...extensions, attributionToken: theirs } },
        paymentRequirements: paymentPayload.accepted,
      })
      answers.push(body)
      response.writeHead(body.success ? 200 : 402).end(JSON.stringify(body))
    }
    expect(await signer.refusal('pay_for_product', await order(wallet))).toMatch(
      /^phase 2: expected 200, got 402.*Nothing has been paid so far/,
    )
    expect(answers[0]).toMatchObject({
      success: false,
      errorMessage: expect.stringContaining('ReceiveWithAuthorization needs extensions.attributionSalt'),
    })
    expect(await w.spent(wallet)).toBe(0n)
  })

  it('what a shop put into its offer, and nobody else can read, keeps nobody from comparing', async () => {
    const wallet = w.next()
    const offering = w.offering(({ accepts, extensions }) => {
      const productId = w.m.till.terms.productId.slice(2).toUpperCase()
      Object.assign(accepts[0]?.extra as object, { productId })
      Object.assign(extensions, { setup_url: 7 })
    })
    w.buying.behave = async (request, response, honest) => {
      if (!isPayment(request)) return offering(request, response, honest)
      const sent = X402.decodeHeader(request.headers['payment-signature']) as {
        accepted: object
        extensions: object
      }
      const paymentPayload = { ...sent, extensions: { ...sent.extensions, setup_url: undefined } }
      const { body } = await w.m.settle({
        x402Version: 2,
        paymentPayload,
        paymentRequirements: sent.accepted,
      })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ joke: 'a good one', transaction: body.transaction }))
    }
    const paid = await signer.must('pay_for_product', await order(wallet))
    expect(paid.next_steps.join()).not.toContain('could not be read')
    expect(await w.spent(wallet)).toBe(PRICE)
    expect(payments()).toBe(1)
  })

  describe('and all that the link says is compared with the escrow, where somebody may settle as he likes', () => {
    const SETTLER = 'SETTLER_ROLE'
    const settler = () => w.m.market.accounts.walletBuyer
    beforeAll(() => w.m.grant(SETTLER, settler().address))
    afterAll(() => w.m.revoke(SETTLER, settler().address))

    /** Settles a payment on the chain, on other terms than those of its link. */
    async function settleAs(header: string, change: Partial<Attribution.Attribution>) {
      const { payload, extensions } = X402.PaymentPayload.deserialize(header)
      const { to: _, ...authorization } = Authorization.from(payload.authorization)
      const attribution = Attribution.from(w.m.till.terms, {
        buyerAgentId: X402.Extensions.buyerAgentId(extensions),
        salt: zeroHash,
      })
      const hash = await w.m.chain.client.writeContract({
        account: settler(),
        address: w.m.till.router,
        abi: splitRouterAbi,
        functionName: 'settle',
        args: [
          {
            authorization: { ...authorization, kind: 0, signature: payload.signature },
            attribution: { ...attribution, ...change },
          },
        ],
      })
      await confirmed(w.m.market, hash)
      return hash
    }

    const settling =
      (change: () => Partial<Attribution.Attribution>): World['buying']['behave'] =>
      async (request, response, honest) => {
        if (!isPayment(request)) return honest()
        const header = String(request.headers['payment-signature'])
        const transaction = await settleAs(header, change())
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ joke: 'a good one', transaction }))
      }

    it.each<[string, () => Partial<Attribution.Attribution>, RegExp]>([
      [
        'another reviewer',
        () => ({ reviewerAgentId: BigInt(w.wallets.at(-1)?.agentId ?? '') }),
        /reviewer agent is \d+ in the escrow and \d+ by the link/,
      ],
      ['another review', () => ({ reviewId: 999n }), /review is 999 in the escrow and \d+ by the link/],
      [
        'another buyer',
        () => ({ buyerAgentId: Attribution.AGENTLESS_BUYER_ID }),
        /buyer agent is none in the escrow and \d+ by the link/,
      ],
      [
        'no cashback',
        () => ({ cashbackOfCommissionBps: 0 }),
        /cashback is 0 in the escrow and 20000 by the link/,
      ],
      [
        'another multiplier',
        () => ({ commissionMultiplierBps: 5_000 }),
        /commission is 100000 USDC base units in the escrow, which follows neither from the multiplier of the link \(10000 basis points\) nor from the one in force \(9000\)/,
      ],
    ])('%s is told, with what was paid and served, and kept', async (_, change, told) => {
      const wallet = w.next()
      const idempotency_key = 'other terms'
      w.standIn.says.get_review_rank = () => rankOf(9_000)
      w.buying.behave = settling(change)
      const result = await signer.client.callTool({
        name: 'pay_for_product',
        arguments: await order(wallet, { idempotency_key }),
      })
      const [message, served] = (result.content as { text: string }[]).map(({ text }) => text)
      expect(result.isError).toBe(true)
      expect(message).toMatch(
        /^the purchase is not what was agreed on\. The payment went through: 1000000 USDC base units, escrow \d+, transaction 0x[0-9a-f]{64}\. It was not settled on the terms of the ref link: /,
      )
      expect(message).toMatch(told)
      expect(JSON.parse(JSON.parse(served ?? '').resource.body)).toMatchObject({ joke: 'a good one' })
      expect(await w.spent(wallet)).toBe(PRICE)
      // It is written down, so that whoever asks again hears it again.
      const again = await second.refusal('pay_for_product', await order(wallet, { idempotency_key }))
      expect(again).toMatch(/^already paid: /)
      expect(again).toMatch(told)
      expect(await w.spent(wallet)).toBe(PRICE)
    })

    it('the multiplier that the rank of the reviewer gives now is as good as that of the link', async () => {
      const wallet = w.next()
      w.standIn.says.get_review_rank = () => rankOf(9_000)
      w.buying.behave = settling(() => ({ commissionMultiplierBps: 9_000 }))
      const paid = await signer.must('pay_for_product', await order(wallet))
      expect(paid.next_steps.join()).not.toContain('commission')
      // Whether it is in force cannot be told: then the caller is, and the purchase stands.
      w.standIn.says.get_review_rank = () => {
        throw new Error('not now')
      }
      const unsure = await signer.must('pay_for_product', await order(wallet))
      expect(unsure.next_steps.join()).toContain('the marketplace did not tell the one in force')
    })
  })
})

const rankOf = (commission_multiplier_bps: number) => ({
  repeat: { commission_multiplier_bps },
  one_off: { commission_multiplier_bps: 4_000 },
})

describe('a purchase is made once', () => {
  it('by calls of the same key at once, in one process and in two', async () => {
    const wallet = w.next()
    const same = await order(wallet, { idempotency_key: 'once' })
    const answers = await Promise.all(
      [signer, signer, second, second].map((process) => process.call('pay_for_product', same)),
    )
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(1)
    for (const { isError, text } of answers) if (isError) expect(text).toContain('already paid')
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('when the signer dies before it sends what it has written down', async () => {
    const wallet = w.next()
    const dying = await start({ DIES: 'true' })
    const same = await order(wallet, { idempotency_key: 'crash' })
    await expect(dying.call('pay_for_product', same)).rejects.toThrow()
    expect(payments()).toBe(0)
    // Its lock is still there, and its process is not.
    expect(await signer.refusal('pay_for_product', same)).toContain('is not decided yet')
    const { open_purchases } = await signer.must('get_wallet_status', { agent_id: wallet.agentId })
    expect(open_purchases.map(({ payer }: { payer: string }) => payer)).toContain(wallet.account.address)
    await letExpire()
    await signer.must('pay_for_product', same)
    expect(await signer.refusal('pay_for_product', same)).toContain('already paid')
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('when the signer dies before it hears what came of it', async () => {
    const [named, nameless] = [w.next(), w.next()]
    const productId = numberToHex(0xb8, { size: 32 })
    await listProduct(w.m.market, w.m.merchant.account, { ...w.m.merchant, productId })
    const otherLink = await w.link({ productId })
    for (const [wallet, more] of [[named, { idempotency_key: 'gone' }] as const, [nameless, {}] as const]) {
      const dying = await start()
      w.buying.behave = async (request, _response, honest) => {
        if (!isPayment(request)) return honest()
        dying.kill()
        await settle(String(request.headers['payment-signature']))
        w.buying.behave = undefined
      }
      await expect(dying.call('pay_for_product', await order(wallet, more))).rejects.toThrow()
      await expect.poll(() => w.buying.behave, { timeout: 50_000 }).toBeUndefined()
      // Another product is another purchase, and what is to be told of the first is kept.
      await signer.must('pay_for_product', await order(wallet, { ref_link: otherLink }))
      expect(await signer.refusal('pay_for_product', await order(wallet, more))).toMatch(
        /^(?:already paid|an earlier purchase of this product had an unknown outcome, and was paid): .*escrow \d+, transaction 0x/,
      )
      expect(await w.spent(wallet)).toBe(2n * PRICE)
    }
    // The caller knows now, so another call is another purchase.
    await signer.must('pay_for_product', await order(nameless))
    expect(await w.spent(nameless)).toBe(3n * PRICE)
  })

  it('when the caller gives up before it hears what came of it', async () => {
    const wallet = w.next()
    const giveUp = new AbortController()
    w.buying.behave = async (request, _response, honest) => {
      if (!isPayment(request)) return honest()
      giveUp.abort()
      // What is said later arrives later: the cancellation is there by now.
      await signer.must('get_wallet_status', { agent_id: wallet.agentId })
      await honest()
    }
    const call = { name: 'pay_for_product', arguments: await order(wallet) }
    await expect(signer.client.callTool(call, { signal: giveUp.signal })).rejects.toThrow()
    expect(await signer.refusal('pay_for_product', await order(wallet))).toMatch(
      /^an earlier purchase of this product had an unknown outcome, and was paid: /,
    )
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('when the caller gives up while its votes are cast', async () => {
    const wallet = w.next()
    const giveUp = new AbortController()
    const { cast_review_votes: cast } = w.standIn.says
    w.standIn.says.cast_review_votes = async (input) => {
      giveUp.abort()
      // What is said later arrives later: the cancellation is there by now.
      await second.must('get_wallet_status', { agent_id: wallet.agentId })
      throw new Error(
        `purchase for escrow ${input.escrow_id} not found (not yet indexed — retry shortly): not found`,
      )
    }
    const submit_votes = [{ review_id: 1, reasoning: 'It helped.' }]
    const call = { name: 'pay_for_product', arguments: await order(wallet, { submit_votes }) }
    await expect(second.client.callTool(call, { signal: giveUp.signal })).rejects.toThrow()
    expect(await second.refusal('pay_for_product', await order(wallet))).toMatch(
      /^an earlier purchase of this product had an unknown outcome, and was paid: /,
    )
    expect(await w.spent(wallet)).toBe(PRICE)
    if (cast) w.standIn.says.cast_review_votes = cast
  })

  it('and the journal is for its owner only, and holds no key [SIGN-104]', async () => {
    const names = await readdir(SIGNER_STATE_DIR, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files.length).toBeGreaterThan(5)
    const text = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join().toLowerCase()
    expect(text).toContain(w.wallets[1]?.account.address.toLowerCase())
    for (const { key } of w.wallets) {
      expect(text).not.toContain(key.slice(2))
      expect(signer.said() + second.said()).not.toContain(key.slice(2))
    }
    for (const file of files) expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(SIGNER_STATE_DIR)).mode & 0o777).toBe(0o700)
  })
})
