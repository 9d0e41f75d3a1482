import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultProxy, int, pick, seeded, seedOf, startFaultProxy } from '@referrer/chain/testing'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { cancellation, type Deed, send, submission } from '../abuse/acts.ts'
import type { Answer } from '../asking.ts'
import { eventually } from '../eventually.ts'
import type { Deadly, FacilitatorProcess } from './process.ts'
import { committed, expectNothingOpen, type Purchase, startWorld, type World } from './world.ts'

vi.setConfig({ testTimeout: 240_000 })

const seed = seedOf()
const random = seeded(seed)
const LASTS_MS = 12_000
const STEPS: Deadly[] = ['tried', 'sending', 'signed', 'stored', 'broadcast', 'mined', 'ended']
const FAULTS = {
  hang: 0.005,
  delay: 0.03,
  reset: 0.03,
  http500: 0.03,
  rateLimit: 0.03,
  garbage: 0.03,
  loseAnswer: 0.06,
  dropTransaction: 0.3,
}
/** Undefined: of a success. */
const ALLOWED = [undefined, 'invalid_payment', 'settle_failed']
/** Whoever hangs is not waited for as long as in real life. */
const SETTINGS = { patienceMs: 1_000 }

/** `broke` has no money and `forged` is somebody else's signature: they are never settled. The last two are raced on the chain. */
const KINDS = ['good', 'good', 'good', 'copied', 'broke', 'forged', 'submitted', 'cancelled'] as const

const isRaced = (kind: Payment['kind']) => kind === 'submitted' || kind === 'cancelled'
/** Whoever lost a race on the chain cannot pay again within the hour, so each raced payment has a payer of its own. */
const RACED_BUYERS = 60

interface Payment extends Purchase {
  kind: (typeof KINDS)[number]
  /** Everything that was ever answered about it. */
  answers: Answer[]
}

let world: World
let nodes: FaultProxy[]
/** Of processes that have two bad nodes. */
let env: Record<string, string>
let racers: LocalAccount[]
let isOver = false
const replicas: FacilitatorProcess[] = []
const payments: Payment[] = []
const asking: Promise<void>[] = []
let deeds: Promise<unknown> = Promise.resolve()
let deaths = 0

beforeAll(async () => {
  world = await startWorld({ chainId: 31_478, buyers: 20 + RACED_BUYERS, relayers: 2, blockTime: 250 })
  const { chain, env: usual, buyers } = world.market
  racers = buyers.splice(0, RACED_BUYERS)
  const target = chain.rpcUrl ?? ''
  nodes = [await startFaultProxy({ target, random }), await startFaultProxy({ target, random })]
  const [configured] = JSON.parse(usual.CHAINS ?? '')
  env = { CHAINS: JSON.stringify([{ ...configured, rpcUrls: nodes.map(({ url }) => url) }]) }
})
afterAll(async () => {
  await world?.close()
  await Promise.all(nodes.map((node) => node.close()))
})

it(`settles every payment once or not at all, through crashes and bad nodes (SEED=${seed})`, async () => {
  await world.facilitator.kill()
  const keepers = [keepRunning(await world.start(env, SETTINGS)), keepRunning()]
  for (const node of nodes) node.setFaults(FAULTS)
  const end = Date.now() + LASTS_MS
  while (Date.now() < end) {
    await pay()
    if (random() < 0.15) await strike()
    await sleep(int(random, 20, 200))
  }
  isOver = true
  for (const node of nodes) node.setFaults({})
  await Promise.all(replicas.map((replica) => replica.kill()))
  await Promise.all([...keepers, ...asking, deeds])

  await world.start()
  await Promise.all(payments.map(expectOneEnd))
  await expectNothingOpen(world.market)
  console.info(summary())
  await world.books.audit({ reverted: await expectOnlyRacedReverts() })
})

/** One after the other: when it dies, another takes its place. */
async function keepRunning(first?: FacilitatorProcess): Promise<void> {
  let replica = first
  while (!isOver) {
    // It may not get through to the node when it starts.
    replica ??= await world.start(env, SETTINGS).catch(() => undefined)
    if (!replica) continue
    if (isOver) return replica.kill()
    replicas.push(replica)
    await replica.dead
    deaths += 1
    replicas.splice(replicas.indexOf(replica), 1)
    replica = undefined
  }
}

/** Kills one now, or at its next step of some kind. */
async function strike(): Promise<void> {
  if (replicas.length === 0) return
  const victim = pick(random, replicas)
  if (random() < 0.3) await victim.kill()
  else await victim.dieAt(pick(random, STEPS))
}

async function pay(): Promise<void> {
  const { market } = world
  const drawn = pick(random, KINDS)
  const racer = isRaced(drawn) ? racers.pop() : undefined
  const kind = isRaced(drawn) && !racer ? 'good' : drawn
  const poor = kind === 'broke' ? privateKeyToAccount(generatePrivateKey()) : undefined
  const buyer = racer ?? poor ?? pick(random, market.buyers)
  const options = {
    // Only a bare transfer can be submitted by others.
    ...(kind !== 'submitted' && random() < 0.5 && committed()),
    ...(kind === 'forged' && { signer: privateKeyToAccount(generatePrivateKey()) }),
  }
  const body = await market.payload(buyer, options)
  const { from, nonce } = body.paymentPayload.payload.authorization
  const payment: Payment = { kind, buyer, body, path: `/settlements/${from}/${nonce}`, answers: [] }
  payments.push(payment)
  if (kind === 'submitted') race(submission(market, body))
  if (kind === 'cancelled') race(await cancellation(market, buyer, body))
  const copies = kind === 'copied' ? int(random, 2, 4) : 1
  for (let copy = 0; copy < copies; copy += 1) asking.push(ask(payment))
}

async function ask(payment: Payment): Promise<void> {
  if (replicas.length === 0) return
  const answer = await pick(random, replicas)
    .settle(payment.body)
    .catch(() => undefined)
  if (answer) payment.answers.push(answer)
}

/** Somebody does it about the same time, one after the other. */
function race(deed: Deed): void {
  const pause = int(random, 0, 300)
  deeds = deeds.then(() => sleep(pause)).then(() => send(world.market, deed))
}

/** It is settled exactly once or never, and nobody was ever told otherwise. */
async function expectOneEnd(payment: Payment): Promise<void> {
  const { kind, answers, body } = payment
  const told = `${kind} ${payment.path}`
  let last: Answer['body']
  await eventually(async () => {
    last = (await world.facilitator.settle(body)).body
    const isEnd = last.success || last.errorReason === 'invalid_payment' || kind === 'broke'
    return isEnd
      ? 'at its end'
      : `${told}: ${JSON.stringify(last)}, ${JSON.stringify(await world.settlement(payment))}`
  }).toBe('at its end')
  const { status, transaction } = await world.settlement(payment)
  const isUsed = last.success || last.errorMessage === 'authorization already used'
  if (kind === 'broke' || kind === 'forged') expect([status, isUsed], told).toEqual(['unknown', false])
  else if (kind !== 'cancelled' || isUsed) expect([status, isUsed], told).toEqual(['settled', true])
  else expect(last.errorMessage, told).toMatch(/^authorization cancelled/)
  for (const answer of [...answers.map((each) => each.body), last]) {
    expect(ALLOWED, `${told}: ${JSON.stringify(answer)}`).toContain(answer.errorReason)
    if (answer.success || answer.errorMessage === 'authorization already used')
      expect(answer.transaction, told).toBe(transaction)
  }
  expect(new Set(answers.map((each) => each.status)), told).toEqual(new Set(answers.length > 0 ? [200] : []))
}

/** What reverted had lost a race that somebody ran on the chain. */
async function expectOnlyRacedReverts(): Promise<number> {
  const { client } = world.market.chain
  const raced = payments.filter(({ kind }) => isRaced(kind))
  const nonces = raced.map(({ body }) => body.paymentPayload.payload.authorization.nonce.slice(2))
  const ours = new Set(world.market.relayers.map(({ address }) => address.toLowerCase()))
  let reverted = 0
  for (let number = await client.getBlockNumber(); number > 0n; number -= 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { from, hash, input } of transactions.filter((each) => ours.has(each.from))) {
      const { status } = await client.getTransactionReceipt({ hash })
      if (status === 'success') continue
      reverted += 1
      expect(
        nonces.some((nonce) => input.includes(nonce)),
        `${hash} of ${from} reverted`,
      ).toBe(true)
    }
  }
  return reverted
}

function summary(): string {
  const kinds = [...Map.groupBy(payments, ({ kind }) => kind)].map(([kind, each]) => `${kind} ${each.length}`)
  const faults = nodes.flatMap(({ counts }) => Object.values(counts)).reduce((sum, times) => sum + times, 0)
  return `SEED=${seed}: ${payments.length} payments (${kinds.join(', ')}), ${deaths} deaths, ${faults} RPC faults`
}
