// The runner beside the whole marketplace: what owners queue, it buys once.
import { glob, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mintUsdc } from '@referrer/contracts/local'
import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { must, naming } from '../../service/test/http/caller.ts'
import { intentsOf } from '../../service/test/mcp/intents.ts'
import { type Marketplace, PRICE, startMarketplace } from './marketplace.ts'
import { type Relay, startRelay, startRunner, type TestRunner } from './runner.ts'
import { newStateDir } from './signer.ts'

let place: Marketplace
let relay: Relay
let its: ReturnType<typeof intentsOf>
let agentId: bigint
const stateDirs: string[] = []
const runners: TestRunner[] = []
let stateDir: string

beforeAll(async () => {
  place = await startMarketplace()
  relay = await startRelay(place.m.service.url)
  agentId = BigInt(place.agentId)
  its = intentsOf(place.m, place.mcp, place.m.market.accounts.buyer)
})
afterAll(async () => {
  await relay?.close()
  await place?.close()
  for (const folder of stateDirs) await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  stateDir = newMachine()
  await limit({})
})
afterEach(async () => {
  place.before = undefined
  relay.before = undefined
  for (const runner of runners.splice(0)) runner.kill()
  for (const intentId of await its.polledIds(agentId)) await its.skip(agentId, intentId)
})

function newMachine(): string {
  const folder = newStateDir()
  stateDirs.push(folder)
  return folder
}

async function start(args: string[], env: Record<string, string> = {}): Promise<TestRunner> {
  const { m } = place
  const runner = await startRunner(
    {
      ...place.env,
      REFERRER_AGENT_MCP_URL: `${relay.url}/mcp`,
      SIGNER_STATE_DIR: stateDir,
      MAX_PER_DAY: 'unlimited',
      ...env,
    },
    ['--agent', String(agentId), '--chain', String(m.chainId), ...args],
  )
  runners.push(runner)
  return runner
}

/** One pass: its exit code, and what it said. */
async function once(args: string[] = [], env: Record<string, string> = {}): Promise<[number | null, string]> {
  const runner = await start(['--once', ...args], env)
  const code = await runner.ended
  return [code, runner.said()]
}

/** What this machine has refused, it has refused for longer than a payment of another one could be under way. */
async function wait(folder = stateDir): Promise<void> {
  for await (const file of glob('intents/*/*.refused.json', { cwd: folder })) {
    await writeFile(join(folder, file), JSON.stringify({ since: 0 }))
  }
}

/** The same, for what is refused: it is skipped by a later pass. */
async function onceAndLater(env: Record<string, string> = {}): Promise<[number | null, string]> {
  const [code, said] = await once([], env)
  expect([code, said]).toEqual([
    1,
    expect.stringContaining('… is refused, and skipped if it still is in 2 minutes'),
  ])
  await wait()
  return once([], env)
}

let keys = 0
const queue = (change: object = {}) => {
  keys += 1
  const payload = { ref_link: place.refLink, max_amount: String(PRICE), idempotency_key: `key ${keys}` }
  return its.queue(agentId, { payload: { ...payload, ...change } })
}

const limit = (caps: object) =>
  must(
    place.m.call('POST', '/v1/spending-limits', {
      as: place.m.market.accounts.buyer,
      body: { chain_id: place.m.chainId, ...caps },
    }),
  )

const balance = () => place.balanceOf(place.m.market.accounts.buyer.address)

const lastEscrow = async () => {
  const { client, addresses } = place.m.market
  const call = { address: addresses.CommissionEscrow, abi: commissionEscrowAbi } as const
  return Number(await client.readContract({ ...call, functionName: 'lastEscrowId' }))
}

/** How many purchases the work made, and what they cost. */
async function bought(work: () => Promise<unknown>): Promise<[number, bigint]> {
  const [escrow, money] = [await lastEscrow(), await balance()]
  await work()
  return [(await lastEscrow()) - escrow, money - (await balance())]
}

const status = async (intentId: string) => (await its.statusOf(agentId, intentId)).status
const isMark = (body: string) => body.includes('"mark_intent_executed"')

describe('a pass', () => {
  it('buys what is queued, oldest first, tells the owner what came of it, and skips what costs too much', async () => {
    const first = await queue()
    const dear = await queue({ max_amount: String(PRICE - 1n) })
    const last = await queue({ max_amount: Number(PRICE) })
    expect(
      await bought(async () => {
        const [code, earlier] = await once()
        await wait()
        const [then, later] = await once()
        expect([code, then]).toEqual([1, 0])
        const steps = `${earlier}\n${later}`
          .split('\n')
          .map((line) => /^\d\d:\d\d:\d\d intent (\w{8}) (.+)$/.exec(line)?.slice(1))
        expect(steps.filter(Boolean)).toEqual([
          [
            first.slice(0, 8),
            expect.stringMatching(/^buy ".+" up to 1\.00 USDC … paid 1\.00 USDC, escrow \d+, /),
          ],
          [first.slice(0, 8), 'marked executed'],
          [
            dear.slice(0, 8),
            expect.stringMatching(/… is refused, .*: live price 1000000 exceeds max_amount 999999;/),
          ],
          [last.slice(0, 8), expect.stringContaining('… paid 1.00 USDC')],
          [last.slice(0, 8), 'marked executed'],
          [
            dear.slice(0, 8),
            expect.stringMatching(/… skipped: live price 1000000 exceeds max_amount 999999;/),
          ],
        ])
      }),
    ).toEqual([2, 2n * PRICE])
    expect(await its.statusOf(agentId, first)).toEqual({
      status: 'executed',
      result: expect.stringMatching(/^paid 1\.00 USDC, escrow \d+, transaction 0x[0-9a-f]{64}$/),
    })
    expect(await its.statusOf(agentId, dear)).toEqual({
      status: 'skipped',
      reason: 'live price 1000000 exceeds max_amount 999999; nothing was paid',
    })
    expect(await status(last)).toBe('executed')
    expect(await bought(() => once())).toEqual([0, 0n])
  })

  it('counts what it has spent itself against the caps of the owner', async () => {
    await place.m.indexed()
    const [, { remaining_budget }] = [
      await limit({ total_cap_usdc: 1_000_000_000 }),
      await must(
        place.m.call('GET', `/v1/spending-limits/budget?chain_id=${place.m.chainId}`, {
          as: place.m.market.accounts.buyer,
        }),
      ),
    ]
    await limit({ total_cap_usdc: 1_000_000_000 - remaining_budget + Number(PRICE) })
    const [first, second] = [await queue(), await queue()]
    expect(await bought(async () => expect((await onceAndLater())[0]).toBe(0))).toEqual([1, PRICE])
    expect(await status(first)).toBe('executed')
    expect(await its.statusOf(agentId, second)).toMatchObject({
      status: 'skipped',
      reason: expect.stringContaining("exceeds the owner's remaining budget of 0 USDC base units"),
    })
  })

  it.each<[string, object, Record<string, string>, string]>([
    ['the cap of the owner', { per_tx_cap_usdc: Number(PRICE) - 1 }, {}, "exceeds the owner's cap of 999999"],
    [
      'the limit of the signer',
      {},
      { MAX_PER_PURCHASE: '999999' },
      'its operator can raise MAX_PER_PURCHASE',
    ],
    ['the day of the signer', {}, { MAX_PER_DAY: '999999' }, 'its operator raise MAX_PER_DAY'],
  ])('skips what is over %s, and says who can raise it', async (_, caps, env, reason) => {
    await limit(caps)
    const intentId = await queue()
    expect(await bought(async () => expect((await onceAndLater(env))[0]).toBe(0))).toEqual([0, 0n])
    expect(await its.statusOf(agentId, intentId)).toMatchObject({
      status: 'skipped',
      reason: expect.stringContaining(reason),
    })
  })

  it('skips a link that the marketplace did not sign, and an intent that it cannot read', async () => {
    const [forged, odd] = [await queue({ ref_link: `${place.refLink.slice(0, -4)}AAAA` }), await queue()]
    await place.m
      .sql`UPDATE market.intents SET payload = '{"ref_link":"x","not_before":1}' WHERE intent_id = ${odd}`
    expect(await bought(async () => expect((await onceAndLater())[0]).toBe(0))).toEqual([0, 0n])
    expect(await its.statusOf(agentId, forged)).toMatchObject({
      status: 'skipped',
      reason: expect.stringContaining('the ref link does not hold'),
    })
    expect(await status(odd)).toBe('skipped')
  })

  it('leaves pending what may work later: a shop that is away, a wallet without money', async () => {
    const intentId = await queue()
    place.before = () => false
    const [code, said] = await once()
    expect([code, said]).toEqual([
      1,
      expect.stringContaining('waits for the next poll: phase 1: expected 402, got 503'),
    ])
    place.before = undefined
    const money = await balance()
    const { market } = place.m
    await market.client.writeContract({
      account: market.accounts.buyer,
      chain: null,
      address: market.addresses.USDC,
      abi: sandboxUSDCAbi,
      functionName: 'transfer',
      args: [market.accounts.treasury.address, money],
    })
    const [poor, why] = await once()
    expect([poor, why]).toEqual([1, expect.stringContaining('send it more')])
    expect(await status(intentId)).toBe('pending')
    await mintUsdc(market, market.accounts.buyer.address, money)
    expect(await bought(() => once())).toEqual([1, PRICE])
    expect(await status(intentId)).toBe('executed')
  })

  it('only says what it would do with --dry-run', async () => {
    const [good, dear] = [await queue(), await queue({ max_amount: '1' })]
    const payments: unknown[] = []
    place.before = ({ headers }) => void (headers['payment-signature'] && payments.push(headers))
    expect(
      await bought(async () => {
        const [code, said] = await once(['--dry-run'])
        expect([code, said]).toEqual([0, expect.stringContaining('… would pay 1.00 USDC')])
        expect(said).toContain('… would be skipped: live price')
      }),
    ).toEqual([0, 0n])
    expect(payments).toEqual([])
    expect([await status(good), await status(dear)]).toEqual(['pending', 'pending'])
  })

  it('shows no control characters of strangers', async () => {
    const intentId = await queue()
    const { m } = place
    await m.sql`UPDATE market.products SET name = ${'Fast\u001b[2J\u202eOCR\r\n12:00:00 paid'}`
    const [, said] = await once(['--dry-run'])
    await m.sql`UPDATE market.products SET name = 'Jokes'`
    expect(said).toContain(`intent ${intentId.slice(0, 8)} buy`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what it looks for
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(said).not.toMatch(/^12:00:00 paid/m)
  })
})

describe('two runners buy an intent once', () => {
  it.each(['with the same journal', 'on two machines'])('%s [SIGN-35 otherwise]', async (where) => {
    const intentId = await queue()
    const elsewhere = where === 'on two machines' ? { SIGNER_STATE_DIR: newMachine() } : {}
    expect(
      await bought(async () => {
        const all = await Promise.all([once(), once([], elsewhere)])
        expect(all).toEqual([
          [0, expect.stringMatching(/escrow \d+/)],
          [0, expect.stringMatching(/escrow \d+/)],
        ])
      }),
    ).toEqual([1, PRICE])
    expect(await status(intentId)).toBe('executed')
  })

  it('where both send their payment before either hears of it [SIGN-35 otherwise]', async () => {
    const intentId = await queue()
    const waiting: (() => void)[] = []
    const nonces = new Set<string>()
    place.before = async ({ headers }) => {
      const header = headers['payment-signature']
      if (!header) return
      nonces.add(nonceIn(String(header)))
      if (waiting.length >= 2) return
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 2) for (const go of waiting) go()
      })
    }
    expect(
      await bought(async () => {
        const both = [start(['--once']), start(['--once'], { SIGNER_STATE_DIR: newMachine() })]
        for (const runner of await Promise.all(both)) await runner.ended
        // Whoever lost and could not tell, tells by the next pass.
        await once()
      }),
    ).toEqual([1, PRICE])
    expect([waiting.length, nonces.size]).toEqual([2, 1])
    expect(await status(intentId)).toBe('executed')
  })

  it('and one that may not buy it does not skip it while another one pays', async () => {
    const intentId = await queue()
    const other = { SIGNER_STATE_DIR: newMachine(), MAX_PER_PURCHASE: '1' }
    place.before = async ({ headers }) => {
      if (!headers['payment-signature']) return
      place.before = undefined
      expect(await once([], other)).toEqual([
        1,
        expect.stringContaining('another machine may be paying for it'),
      ])
      expect(await status(intentId)).toBe('pending')
    }
    expect(await bought(async () => expect((await once())[0]).toBe(0))).toEqual([1, PRICE])
    expect(place.before).toBeUndefined()
    expect(await status(intentId)).toBe('executed')
  })

  it('and the one that comes late does not skip it, though it is over the caps by now', async () => {
    const intentId = await queue()
    const dying = await start(['--once'])
    relay.before = (body) => {
      if (!isMark(body)) return undefined
      dying.kill()
      return false
    }
    expect(await bought(() => dying.ended)).toEqual([1, PRICE])
    relay.before = undefined
    await place.m.indexed()
    await limit({ per_tx_cap_usdc: 0, total_cap_usdc: 0 })
    const other = { SIGNER_STATE_DIR: newMachine() }
    expect(await bought(async () => expect((await once([], other))[0]).toBe(0))).toEqual([0, 0n])
    expect(await its.statusOf(agentId, intentId)).toMatchObject({
      status: 'executed',
      result: expect.stringMatching(/^paid from another machine, escrow \d+/),
    })
  })
})

describe('a runner that is killed', () => {
  it('after paying and before marking: the next one marks, and buys nothing', async () => {
    const intentId = await queue()
    const dying = await start(['--once'])
    relay.before = (body) => {
      if (!isMark(body)) return undefined
      dying.kill()
      return false
    }
    expect(await bought(() => dying.ended)).toEqual([1, PRICE])
    expect(await status(intentId)).toBe('pending')
    relay.before = undefined
    expect(await bought(async () => expect((await once())[0]).toBe(0))).toEqual([0, 0n])
    expect(await its.statusOf(agentId, intentId)).toMatchObject({
      status: 'executed',
      result: expect.stringMatching(/^paid 1\.00 USDC, escrow \d+, transaction 0x[0-9a-f]{64}$/),
    })
  })

  it('while the shop is being paid: the next one finds the payment, and buys nothing', async () => {
    const intentId = await queue()
    const dying = await start(['--once'])
    place.before = ({ headers }) => {
      if (headers['payment-signature']) dying.kill()
    }
    expect(
      await bought(async () => {
        const last = await lastEscrow()
        await dying.ended
        place.before = undefined
        await expect.poll(lastEscrow, { timeout: 50_000 }).toBe(last + 1)
        expect((await once())[0]).toBe(0)
      }),
    ).toEqual([1, PRICE])
    expect(await status(intentId)).toBe('executed')
  })

  it('by SIGTERM finishes the purchase under way, says so, and ends with 0', async () => {
    const [first, second] = [await queue(), await queue()]
    const runner = await start(['--every', '1s'])
    place.before = async ({ headers }) => {
      if (!headers['payment-signature']) return
      runner.kill('SIGTERM')
      await runner.says(/stops after the step under way/)
    }
    expect(await bought(async () => expect(await runner.ended).toBe(0))).toEqual([1, PRICE])
    expect(runner.said()).toMatch(/marked executed\n\S+ stopped\n$/)
    expect([await status(first), await status(second)]).toEqual(['executed', 'pending'])
  })
})

it('polls for an hour with one signature, and says only what is new', async () => {
  let signed = 0
  const polls: string[] = []
  relay.before = (body) => {
    if (!body.includes('"get_pending_intents"')) return
    if (body.includes('agent_sig')) polls.push(body)
    else signed += 1
  }
  const runner = await start(['--every', '1s'])
  await expect.poll(() => polls.length, { timeout: 50_000 }).toBeGreaterThan(2)
  expect(signed).toBe(1)
  expect(runner.said().match(/no pending intents/g)).toHaveLength(1)
  const intentId = await queue()
  await runner.says(/marked executed/)
  expect(await status(intentId)).toBe('executed')
  runner.kill('SIGINT')
  expect(await runner.ended).toBe(0)
})

describe('options', () => {
  it.each<[string[], RegExp]>([
    [['--agent', 'seven'], /--agent: expected the id of an agent/],
    [['--agent', '7', '--every', '0s'], /--every: expected 1s to 1h/],
    [['--agent', '7', '--review-with', 'a', '--review-mcp', 'b'], /give one of them/],
    [['--agent', '7', '--chain', '1'], /wrong chain: asked for chain 1/],
    [['--agent', '7777'], /no key for agent 7777/],
    [['--often'], /--often/],
  ])('%j are refused in one line', async (args, refusal) => {
    const runner = await startRunner({ ...place.env, SIGNER_STATE_DIR: stateDir }, args)
    expect([await runner.ended, runner.said()]).toEqual([1, expect.stringMatching(refusal)])
    expect(runner.said().trimEnd()).not.toContain('\n')
  })

  it('are explained by --help', async () => {
    const runner = await startRunner({}, ['--help'])
    expect(await runner.ended).toBe(0)
    for (const option of ['agent', 'chain', 'once', 'dry-run', 'every', 'review-with', 'review-mcp']) {
      expect(runner.said()).toContain(`--${option}`)
    }
  })
})

const nonceIn = (header: string) =>
  JSON.parse(Buffer.from(header, 'base64url').toString()).payload.authorization.nonce as string

describe('an intent that its owner withdraws', () => {
  /** Withdraws it while the shop has the first payment of the pass; returns the status of that call. */
  function withdrawDuringPayment(intentId: string): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    place.before = async ({ headers }) => {
      if (headers['payment-signature'] === undefined) return
      place.before = undefined
      const as = place.m.market.accounts.buyer
      const path = `/v1/intents/${intentId}`
      resolve((await place.m.call('DELETE', path, { as, body: naming('DELETE', path) })).status)
    }
    return promise
  }

  it('is not bought when another one is bought meanwhile', async () => {
    await queue()
    const withdrawn = withdrawDuringPayment(await queue())
    expect(await bought(() => once())).toEqual([1, PRICE])
    expect(await withdrawn).toBe(204)
  })

  it('is executed all the same when it was being paid, and its owner learns that', async () => {
    const only = await queue()
    const withdrawn = withdrawDuringPayment(only)
    expect(await bought(() => once())).toEqual([1, PRICE])
    expect(await withdrawn).toBe(204)
    expect(await its.statusOf(agentId, only)).toMatchObject({
      status: 'executed',
      result: expect.stringContaining('escrow'),
    })
  })
})
