// The share of their commission that reviewers pledge to buyers, set in two steps.
import { registerIdentity } from '@referrer/contracts/local'
import { type Hex, type LocalAccount, recoverTypedDataAddress, type TypedDataDefinition } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setAgentWallet } from '../calls.ts'
import { must } from './caller.ts'
import { send, transfer } from './chain.ts'
import { CASHBACK_RATE, pledgeBody, setCashbackRate, signedBody } from './commitments.ts'
import { giveToContract, ownedBy } from './contract-wallets.ts'
import { newAgent, startTestMarket, type TestMarket } from './market.ts'

const [STEP1, STEP2] = [`${CASHBACK_RATE}/step1`, `${CASHBACK_RATE}/step2`]
const NOWHERE = 99_999_999
const HOUR = 3_600
/** Half the order of the curve, rounded up: the lowest `s` that counts as high. */
const HIGH_S = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1'

const REQUIRED = 'nonce and expiry are required with agent_sig'
const NONCE = 'invalid nonce: must be 0x-prefixed 32-byte hex'
const SIGNATURE = 'invalid agent_sig: must be 0x-prefixed 65-byte hex'

type Sent = { nonce: string; expiry: number; agent_sig: string }

let m: TestMarket
let owner: LocalAccount
/** Agent 0. */
let agentId: bigint

beforeAll(async () => {
  m = await startTestMarket()
  owner = m.market.accounts.reviewer
  agentId = await registerIdentity(m.market, owner)
  await m.indexed()
})
afterAll(() => m.close())

const ask = (path: string, body: unknown, as: LocalAccount = owner) => m.call('POST', path, { as, body })
const pledge = (bps: number, of: bigint | number = agentId) => pledgeBody({ agentId: of, bps })
const signed = (bps: number, of: bigint | number = agentId, signer = owner) =>
  signedBody(m, CASHBACK_RATE, { as: owner, signer, body: pledge(bps, of) })
const refusal = (status: number, error: string) => ({ status, body: { error } })
const INTERNAL = refusal(500, 'internal error')

const unlike = (bps: number) => (bps === 1 ? 2 : 1)

/** The rate as any caller sees it. */
async function rateOf(of: bigint = agentId): Promise<number> {
  const context = await must(m.call('GET', `/v1/agent/${of}/context`, { as: m.market.accounts.stranger }))
  return context.global_cashback_of_commission_bps
}

describe('both steps', () => {
  it.each([STEP1, STEP2])('%s is for those who sign [CASH-01, CASH-24]', async (path) => {
    const body = await signed(100)
    expect(await m.call('POST', path, { body })).toMatchObject(refusal(401, 'unauthorized'))
    expect((await ask(path, body)).status).toBe(200)
  })

  it.each([
    ['a negative agent', { reviewer_agent_id: -1 }],
    ['an agent as text', { reviewer_agent_id: '0' }],
    ['no agent', { reviewer_agent_id: null }],
    ['an agent beyond what is safe', { reviewer_agent_id: 2 ** 53 }],
    ['a negative rate', { cashback_of_commission_bps: -1 }],
    ['half a basis point', { cashback_of_commission_bps: 0.5 }],
    ['a rate as text', { cashback_of_commission_bps: '100' }],
    ['no rate', { cashback_of_commission_bps: null }],
  ])('refuse %s [CASH-02, CASH-08]', async (_, change) => {
    const body = { ...(await signed(100)), ...change }
    for (const path of [STEP1, STEP2]) {
      expect(await ask(path, body)).toMatchObject(refusal(400, 'invalid request'))
    }
  })

  it.each(['{', '', '[]', 'null', '"x"'])('refuse the body %j [CASH-04]', async (body) => {
    for (const path of [STEP1, STEP2]) {
      expect(await ask(path, body)).toMatchObject(refusal(400, 'invalid request'))
    }
  })

  it.each([4_001, 10_000, 65_536, 65_537, Number.MAX_SAFE_INTEGER])(
    'refuse a rate of %i, whatever else is wrong [CASH-07, CASH-38]',
    async (bps) => {
      const error = `cashback rate ${bps} bps exceeds maximum 4000 bps (40%): invalid input`
      const before = await rateOf()
      expect(await ask(STEP1, pledge(bps))).toMatchObject(refusal(400, error))
      const whole = { ...(await signed(100)), cashback_of_commission_bps: bps }
      for (const body of [whole, pledge(bps), pledge(bps, NOWHERE), { ...whole, expiry: 1 }]) {
        expect(await ask(STEP2, body)).toMatchObject(refusal(400, error))
      }
      expect(await rateOf()).toBe(before)
    },
  )

  it('refuse a chain that is not served [CASH-09]', async () => {
    for (const path of [STEP1, STEP2]) {
      expect(await ask(`${path}?chain_id=999999999`, await signed(100))).toMatchObject(
        refusal(400, 'chain_id not configured'),
      )
      expect((await ask(`${path}?chain_id=${m.chainId}`, await signed(100))).status).toBe(200)
    }
  })

  it('say no more than that something inside failed [CASH-10]', async () => {
    await m.withoutTable('market.seen_requests', async () => {
      expect(await ask(STEP1, pledge(100))).toMatchObject(INTERNAL)
    })
    expect((await ask(STEP1, pledge(100))).status).toBe(200)
  })
})

describe('step 1', () => {
  it.each([0, 4_000])('takes a rate of %i, of agent 0 too [CASH-03, CASH-05, CASH-06]', async (bps) => {
    expect(agentId).toBe(0n)
    expect(await ask(STEP1, pledge(bps, 0))).toMatchObject({ status: 200, body: { status: 'commitment' } })
    expect(await setCashbackRate(m, owner, { agentId: 0, bps })).toMatchObject({ status: 200 })
    expect(await rateOf()).toBe(bps)
  })

  it('tells the typed data to sign, its nonce and its expiry in an hour [CASH-11, CASH-12, CASH-13, CASH-14, CASH-15, CASH-16, CASH-17, CASH-18, CASH-19, CASH-20, CASH-21, CASH-22]', async () => {
    const before = Math.floor(Date.now() / 1_000)
    const { status, body } = await ask(STEP1, pledge(1_234, 7))
    const after = Math.floor(Date.now() / 1_000)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['status', 'commitment', 'nonce', 'expiry'])
    expect(body.status).toBe('commitment')
    expect(body.nonce).toMatch(/^0x[0-9a-f]{64}$/)
    expect(body.expiry).toBeGreaterThanOrEqual(before + HOUR)
    expect(body.expiry).toBeLessThanOrEqual(after + HOUR)
    const verifyingContract = m.market.addresses.ReviewRegistry
    expect(body.commitment).toEqual({
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'version', type: 'string' },
          { name: 'chainId', type: 'uint256' },
          { name: 'verifyingContract', type: 'address' },
        ],
        CashbackRateCommitment: [
          { name: 'agentId', type: 'uint256' },
          { name: 'cashbackOfCommissionBps', type: 'uint16' },
          { name: 'nonce', type: 'bytes32' },
          { name: 'expiry', type: 'uint256' },
        ],
      },
      primaryType: 'CashbackRateCommitment',
      domain: { name: 'ReferrerCashbackRate', version: '1', chainId: m.chainId, verifyingContract },
      message: { agentId: '7', cashbackOfCommissionBps: 1_234, nonce: body.nonce, expiry: body.expiry },
    })
    expect((await ask(STEP1, pledge(1_234, 7))).body.nonce).not.toBe(body.nonce)
  })

  it('is signed as it came by any wallet [CASH-22]', async () => {
    const { commitment } = (await ask(STEP1, pledge(50))).body
    const signature = await owner.signTypedData(commitment as TypedDataDefinition)
    expect(await recoverTypedDataAddress({ ...commitment, signature })).toBe(owner.address)
  })

  it('changes nothing, though the node and the records are away [CASH-23]', async () => {
    const before = await rateOf()
    await ask(STEP1, pledge(unlike(before)))
    expect(await rateOf()).toBe(before)
    m.nodes.isDown = true
    try {
      await m.withoutTable('market.cashback_rates', async () => {
        expect((await ask(STEP1, pledge(unlike(before)))).status).toBe(200)
      })
    } finally {
      m.nodes.isDown = false
    }
    expect(await rateOf()).toBe(before)
  })
})

describe('step 2', () => {
  it('sets the rate, whoever brings it [CASH-25]', async () => {
    for (const [bps, as] of [
      [1_500, owner],
      [1_501, m.market.accounts.stranger],
    ] as const) {
      expect(await ask(STEP2, await signed(bps), as)).toMatchObject({ status: 200, text: '{"status":"set"}' })
      expect(await rateOf()).toBe(bps)
    }
  })

  it('is of the owner that the agent has on the chain: not of a stranger, the wallet or the owner before [CASH-26, CASH-27]', async () => {
    const { stranger, guardian, treasury } = m.market.accounts
    const agent = await newAgent(m, owner)
    const { timestamp } = await m.market.client.getBlock()
    await send(m, await setAgentWallet(m, owner, { agentId: agent, wallet: guardian }, timestamp))
    for (const signer of [stranger, guardian]) {
      const body = await signed(500, agent, signer)
      for (const as of [owner, signer]) {
        expect(await ask(STEP2, body, as)).toMatchObject(refusal(403, 'not authorized'))
      }
    }
    const before = await signed(600, agent)
    await transfer(m, owner, treasury.address, agent)
    expect(await ask(STEP2, before)).toMatchObject(refusal(403, 'not authorized'))
    expect(await rateOf(agent)).toBe(0)
    expect((await ask(STEP2, await signed(700, agent, treasury))).status).toBe(200)
    expect(await rateOf(agent)).toBe(700)
  })

  it('is refused when another rate, agent, nonce, expiry or chain was signed [CASH-26]', async () => {
    const other = await newAgent(m, owner)
    const body = await signed(800)
    const { commitment, nonce, expiry } = (await ask(STEP1, pledge(800))).body
    const elsewhere = { ...commitment, domain: { ...commitment.domain, chainId: 1 } }
    const forged: object[] = [
      { ...body, cashback_of_commission_bps: 801 },
      { ...body, reviewer_agent_id: Number(other) },
      { ...body, nonce },
      { ...body, expiry: Number(body.expiry) - 1 },
      { ...pledge(800), nonce, expiry, agent_sig: await owner.signTypedData(elsewhere) },
    ]
    for (const one of forged) expect(await ask(STEP2, one)).toMatchObject(refusal(403, 'not authorized'))
    expect(await rateOf(other)).toBe(0)
    expect(await rateOf()).not.toBe(800)
  })

  it('is not found for an agent that does not exist [CASH-28]', async () => {
    expect(await ask(STEP2, await signed(100, NOWHERE))).toMatchObject(refusal(404, 'not found'))
  })

  it.each<[string, (body: Sent) => object, string]>([
    ['no nonce [CASH-29]', ({ nonce: _, ...rest }) => rest, REQUIRED],
    ['a nonce that is null [CASH-29]', (body) => ({ ...body, nonce: null }), REQUIRED],
    ['no expiry [CASH-30]', ({ expiry: _, ...rest }) => rest, REQUIRED],
    ['neither [CASH-29, CASH-30]', () => pledge(100), REQUIRED],
    [
      'an expiry that is past [CASH-31]',
      (body) => ({ ...body, expiry: body.expiry - HOUR - 1 }),
      'commitment expired',
    ],
    ['an expiry of 0 [CASH-31]', (body) => ({ ...body, expiry: 0 }), 'commitment expired'],
    ['an expiry too far ahead', (body) => ({ ...body, expiry: body.expiry + 60 }), 'invalid expiry'],
    ['a decimal nonce [CASH-32]', (body) => ({ ...body, nonce: '123' }), NONCE],
    ['a short nonce [CASH-33]', (body) => ({ ...body, nonce: '0x12' }), NONCE],
    ['a nonce without 0x [CASH-33]', (body) => ({ ...body, nonce: body.nonce.slice(2) }), NONCE],
    ['a nonce that is a number [CASH-32]', (body) => ({ ...body, nonce: 123 }), NONCE],
    [
      'a signature without 0x [CASH-34]',
      (body) => ({ ...body, agent_sig: body.agent_sig.slice(2) }),
      SIGNATURE,
    ],
    ['64 bytes of it [CASH-35]', (body) => ({ ...body, agent_sig: body.agent_sig.slice(0, -2) }), SIGNATURE],
    ['66 bytes of it [CASH-35]', (body) => ({ ...body, agent_sig: `${body.agent_sig}00` }), SIGNATURE],
    ['what is no hex [CASH-36]', (body) => ({ ...body, agent_sig: `0x${'zz'.repeat(65)}` }), SIGNATURE],
    ['no signature [CASH-24]', ({ agent_sig: _, ...rest }) => rest, SIGNATURE],
  ])('refuses %s', async (_, change, text) => {
    const before = await rateOf()
    const answer = await ask(STEP2, change((await signed(unlike(before))) as unknown as Sent))
    expect(answer).toMatchObject(refusal(400, `${text}: invalid input`))
    expect(await rateOf()).toBe(before)
  })

  it.each<[string, (signature: Hex) => Hex]>([
    ['is garbage', () => `0x${'ff'.repeat(65)}`],
    ['is nothing', () => `0x${'00'.repeat(65)}`],
    ['has a v that there is not', (signature) => `${signature.slice(0, -2)}1d` as Hex],
    ['has a high s', (signature) => `${signature.slice(0, 66)}${HIGH_S}${signature.slice(-2)}` as Hex],
  ])('says that nobody can be recovered from a signature that %s [CASH-37]', async (_, change) => {
    const body = await signed(100)
    const answer = await ask(STEP2, { ...body, agent_sig: change(body.agent_sig as Hex) })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(/^recover signer: .+: invalid input$/)
  })

  it('fails while no node tells the owner, and holds afterwards [CASH-39]', async () => {
    const before = await rateOf()
    const body = await signed(unlike(before))
    m.nodes.isDown = true
    try {
      for (const sent of [body, await signed(100, NOWHERE)]) {
        expect(await ask(STEP2, sent)).toMatchObject(INTERNAL)
      }
    } finally {
      m.nodes.isDown = false
    }
    expect(await rateOf()).toBe(before)
    expect((await ask(STEP2, body)).status).toBe(200)
    expect(await rateOf()).toBe(unlike(before))
  })

  it('fails when the rate cannot be written, and holds afterwards [CASH-40]', async () => {
    const body = await signed(1_717)
    await m.withoutTable('market.cashback_rates', async () => {
      expect(await ask(STEP2, body)).toMatchObject(INTERNAL)
    })
    expect((await ask(STEP2, body)).status).toBe(200)
    expect(await rateOf()).toBe(1_717)
  })

  it('applies again what comes again within its hour [CASH-43]', async () => {
    const [first, second] = [await signed(1_000), await signed(2_000)]
    for (const [body, rate] of [
      [first, 1_000],
      [second, 2_000],
      [first, 1_000],
      [first, 1_000],
    ] as const) {
      expect(await ask(STEP2, body)).toMatchObject({ status: 200, body: { status: 'set' } })
      expect(await rateOf()).toBe(rate)
    }
  })

  it('takes two at once without a conflict, and one of them holds', async () => {
    const rates = [3_100, 3_200]
    const bodies = await Promise.all(rates.flatMap((bps) => Array.from({ length: 8 }, () => signed(bps))))
    const answers = await Promise.all(bodies.map((body) => ask(STEP2, body)))
    expect(answers.map(({ text }) => text)).toEqual(bodies.map(() => '{"status":"set"}'))
    expect(rates).toContain(await rateOf())
  })

  it('lets a contract that owns the agent say what it signed', async () => {
    const { stranger } = m.market.accounts
    const agent = await newAgent(m, owner)
    await giveToContract(m, owner, agent, ownedBy(owner.address))
    expect(await ask(STEP2, await signed(900, agent, stranger))).toMatchObject(refusal(403, 'not authorized'))
    expect(await rateOf(agent)).toBe(0)
    expect(await ask(STEP2, await signed(900, agent, owner))).toMatchObject({ status: 200 })
    expect(await rateOf(agent)).toBe(900)
  })
})
