// How much a signer pays at most: its own limits, and the caps of the owner of the wallet and of the agent.
import { listProduct } from '@referrer/contracts/local'
import { type Address, isAddressEqual, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newStateDir, startSigner, type TestSigner } from './signer.ts'
import { NO_CAPS } from './stand-in.ts'
import { PRICE, startWorld, type Wallet, type World } from './world.ts'

let w: World
const signers: TestSigner[] = []
const program = new URL('program.ts', import.meta.url)
const DAY_MS = 86_400_000
/** Of what does not come. */
const IMPATIENT = JSON.stringify({ settled: 1_000, indexed: 1_000 })
/** It is noon for signers whose day is counted, so that no midnight comes in between; the marketplace refuses such a clock. */
const TO_NOON_MS = DAY_MS / 2 - (Date.now() % DAY_MS)
const atNoon = (days = 0) => ({
  AHEAD_MS: String(TO_NOON_MS + days * DAY_MS),
  ALLOW_UNREADABLE_CAPS: 'true',
})

beforeAll(async () => {
  w = await startWorld(20)
})
afterAll(async () => {
  await w?.close()
})
beforeEach(() => {
  w.buying.behave = undefined
  w.buying.asked.length = 0
  w.standIn.budgetOf = () => NO_CAPS
})
afterEach(async () => {
  await Promise.all(signers.splice(0).map((signer) => signer.close()))
})

async function start(env: Record<string, string> = {}): Promise<TestSigner> {
  const signer = await startSigner({ ...w.env, TIMEOUTS: IMPATIENT, ...env }, { program })
  signers.push(signer)
  return signer
}
const order = async ({ agentId }: Wallet, more: object = {}) => ({
  ref_link: await w.link(),
  agent_id: agentId,
  ...more,
})
const payments = () => w.buying.asked.filter(({ headers }) => headers['payment-signature']).length
const head = async () => Number(await w.m.chain.client.getBlockNumber())
const priced = (amount: bigint) =>
  w.offering(({ accepts }) => {
    accepts[0].amount = String(amount)
  })
/** Never settles what it is sent. */
const sleepy: World['buying']['behave'] = (request, response, honest) =>
  request.headers['payment-signature'] ? response.writeHead(500).end() : honest()
async function anotherProduct(at: number): Promise<string> {
  const productId = numberToHex(at, { size: 32 })
  await listProduct(w.m.market, w.m.merchant.account, { ...w.m.merchant, productId })
  return w.link({ productId })
}
/** What was signed by a clock that is ahead of the chain expires that much later. */
async function letExpire(aheadMs = 0): Promise<void> {
  await w.m.chain.client.increaseTime({ seconds: 120 + Math.ceil(Math.max(aheadMs, 0) / 1_000) })
  await w.m.chain.client.mine({ blocks: 1 })
}
const capped = (remaining: bigint, asOfBlock: number) => ({
  ...NO_CAPS,
  remaining_budget: Number(remaining),
  budget_enforced: true,
  as_of_block: asOfBlock,
})

describe('the caps of the owner', () => {
  it('bind a purchase without an agent as they bind one with any of its agents', async () => {
    const wallet = w.next()
    const signer = await start({ AGENT_PRIVATE_KEY: wallet.key })
    w.standIn.budgetOf = async (owner) =>
      isAddressEqual(owner, wallet.account.address) ? capped(0n, await head()) : NO_CAPS
    for (const agent_id of [undefined, wallet.agentId]) {
      expect(await signer.refusal('pay_for_product', await order(wallet, { agent_id }))).toBe(
        `the price ${PRICE} exceeds the owner's remaining budget of 0 USDC base units for the purchases of ${wallet.account.address}: the owner can raise the cap at the marketplace; nothing was paid`,
      )
    }
    w.standIn.budgetOf = () => ({ ...NO_CAPS, per_tx_cap_usdc: Number(PRICE) - 1 })
    expect(await signer.refusal('pay_for_product', await order(wallet, { agent_id: undefined }))).toContain(
      `exceeds the owner's cap of ${PRICE - 1n} USDC base units for one purchase`,
    )
    expect(payments()).toBe(0)
    w.standIn.budgetOf = async () => capped(PRICE, await head())
    await signer.must('pay_for_product', await order(wallet, { agent_id: undefined }))
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('that cannot be read refuse, unless the operator says otherwise', async () => {
    const wallet = w.next()
    const [strict, lax] = await Promise.all([start(), start({ ALLOW_UNREADABLE_CAPS: 'true' })])
    const { REFERRER_AGENT_MCP_URL: _, ...env } = w.env
    const [pin] = JSON.parse(w.m.env.ATTESTATION_PUBLIC_KEYS ?? '')[w.m.chainId]
    const alone = await startSigner({ ...env, ATTESTATION_PUB_KEYS: pin })
    signers.push(alone)
    expect(await alone.refusal('pay_for_product', await order(wallet))).toMatch(
      /^the spending caps of 0x\w+ cannot be read \(the signer lacks REFERRER_AGENT_MCP_URL.*ALLOW_UNREADABLE_CAPS=true/,
    )
    const answers: (() => Record<string, unknown>)[] = [
      () => {
        throw new Error('get failed')
      },
      () => ({ budget_enforced: false }),
      // Enforced, and not told how much is left: no leave to pay.
      () => ({ ...NO_CAPS, budget_enforced: true }),
    ]
    for (const answer of answers) {
      w.standIn.budgetOf = answer
      expect(await strict.refusal('pay_for_product', await order(wallet))).toMatch(
        /^the spending caps of 0x\w+ cannot be read \(the marketplace answers \d+ without a budget\): .*; nothing was paid$/,
      )
    }
    expect(payments()).toBe(0)
    const paid = await lax.must('pay_for_product', await order(wallet))
    expect(paid.next_steps.join()).toContain('could not be read before paying')
    expect(await w.spent(wallet)).toBe(PRICE)
  })

  it('bind both where the agent belongs to another wallet than the one that pays', async () => {
    const [payer, owner] = [w.next(), w.next()]
    const spare = '9999'
    const both = { AGENT_KEYS: `${owner.agentId}:${payer.key},${spare}:${owner.key}` }
    const bought = await order(owner)
    for (const bound of [payer, owner]) {
      const signer = await start(both)
      w.standIn.budgetOf = async (asked: Address) =>
        isAddressEqual(asked, bound.account.address) ? capped(0n, await head()) : NO_CAPS
      expect(await signer.refusal('pay_for_product', bought)).toContain(
        `remaining budget of 0 USDC base units for the purchases of ${bound.account.address}`,
      )
    }
    const alone = await start({ AGENT_KEYS: `${owner.agentId}:${payer.key}` })
    w.standIn.budgetOf = () => NO_CAPS
    expect(await alone.refusal('pay_for_product', bought)).toMatch(
      new RegExp(`^the spending caps of ${owner.account.address} cannot be read \\(it owns the buying agent`),
    )
    expect(payments()).toBe(0)
  })

  it('count what the marketplace has not seen yet, and no purchase twice', async () => {
    const wallet = w.next()
    const signer = await start()
    const before = await head()
    w.standIn.budgetOf = () => capped(2n * PRICE, before)
    await signer.must('pay_for_product', await order(wallet))
    await signer.must('pay_for_product', await order(wallet))
    expect(await signer.refusal('pay_for_product', await order(wallet))).toContain(
      'remaining budget of 0 USDC base units',
    )
    // The marketplace has seen both: what it says is left, is.
    const now = await head()
    w.standIn.budgetOf = () => capped(PRICE, now)
    await signer.must('pay_for_product', await order(wallet))
    expect(await w.spent(wallet)).toBe(3n * PRICE)
  })

  it('count what may still be paid, until it has expired', async () => {
    const wallet = w.next()
    const signer = await start()
    const ref_link = await anotherProduct(0xc1)
    w.standIn.budgetOf = async () => capped(PRICE, await head())
    w.buying.behave = sleepy
    expect(await signer.refusal('pay_for_product', await order(wallet))).toContain(
      'Nothing has been paid so far',
    )
    w.buying.behave = undefined
    expect(await signer.refusal('pay_for_product', await order(wallet, { ref_link }))).toContain(
      'remaining budget of 0 USDC base units',
    )
    await letExpire()
    await signer.must('pay_for_product', await order(wallet, { ref_link }))
    expect(await w.spent(wallet)).toBe(PRICE)
  })
})

describe('the limits of the signer', () => {
  it('are small where the operator says nothing, and none only where he says so', async () => {
    const wallet = w.next()
    const { MAX_PER_DAY: _, ...env } = w.env
    const signer = await startSigner(env)
    signers.push(signer)
    const { limits } = await signer.must('get_wallet_status')
    expect(limits).toEqual({
      max_per_purchase: '5000000',
      max_per_day: '20000000',
      signed_today: '0',
    })
    w.buying.behave = priced(5_000_001n)
    expect(await signer.refusal('pay_for_product', await order(wallet))).toBe(
      'the price 5000001 exceeds what this signer pays for one purchase, 5000000 USDC base units: its operator can raise MAX_PER_PURCHASE; nothing was paid',
    )
    expect(payments()).toBe(0)
    // A higher one lets it through to where the balance is looked at.
    const generous = await start({ MAX_PER_PURCHASE: 'unlimited' })
    w.buying.behave = priced(1_000_000_000_000n)
    expect(await generous.refusal('pay_for_product', await order(wallet))).toContain('send it more')
  })

  it('for a day count all wallets and processes of a journal, and begin anew at midnight UTC', async () => {
    const env = { ...atNoon(), SIGNER_STATE_DIR: newStateDir(), MAX_PER_DAY: String(2n * PRICE) }
    const [first, second] = await Promise.all([start(env), start(env)])
    const [one, other] = [w.next(), w.next()]
    await first.must('pay_for_product', await order(one))
    await second.must('pay_for_product', await order(other))
    for (const signer of [first, second]) {
      expect(await signer.refusal('pay_for_product', await order(one))).toBe(
        `the price ${PRICE} exceeds the 0 USDC base units that are left today of the ${2n * PRICE} that this signer pays in a UTC day: wait until midnight UTC, or let its operator raise MAX_PER_DAY; nothing was paid`,
      )
    }
    expect((await first.must('get_wallet_status')).limits.signed_today).toBe(String(2n * PRICE))
    const tomorrow = await start({ ...env, ...atNoon(1) })
    await tomorrow.must('pay_for_product', await order(one))
    expect([await w.spent(one), await w.spent(other)]).toEqual([2n * PRICE, PRICE])
    // A clock that was put back opens no second day.
    expect(await first.refusal('pay_for_product', await order(one))).toContain('left today')
  })

  it('let no two through at once where there is room for one', async () => {
    const env = { ...atNoon(), SIGNER_STATE_DIR: newStateDir(), MAX_PER_DAY: String(3n * PRICE) }
    const processes = await Promise.all([start(env), start(env), start(env)])
    const wallets = [w.next(), w.next(), w.next(), w.next(), w.next()]
    const answers = await Promise.all(
      wallets.map(async (wallet, at) =>
        processes[at % processes.length]?.call('pay_for_product', await order(wallet)),
      ),
    )
    expect(answers.filter((answer) => answer?.isError === false)).toHaveLength(3)
    for (const answer of answers) if (answer?.isError) expect(answer.text).toContain('left today')
    const spent = await Promise.all(wallets.map((wallet) => w.spent(wallet)))
    expect(spent.reduce((sum, each) => sum + each, 0n)).toBe(3n * PRICE)
  })

  it('count what may still be paid, and free it once it has expired', async () => {
    const signer = await start({ ...atNoon(), MAX_PER_DAY: String(PRICE) })
    const [sleeper, wallet] = [w.next(), w.next()]
    w.buying.behave = sleepy
    expect(await signer.refusal('pay_for_product', await order(sleeper))).toContain(
      'Nothing has been paid so far',
    )
    w.buying.behave = undefined
    expect(await signer.refusal('pay_for_product', await order(wallet))).toContain('left today')
    await letExpire(TO_NOON_MS)
    await signer.must('pay_for_product', await order(wallet))
    expect(await signer.refusal('pay_for_product', await order(sleeper))).toContain('left today')
    expect([await w.spent(sleeper), await w.spent(wallet)]).toEqual([0n, PRICE])
  })
})
