import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import { int, pick, seeded, seedOf } from '../testing/index.ts'
import { freshAddress } from './fixture.ts'
import { enqueueTransaction, readTransaction } from './outbox.ts'
import type { TortureSettings } from './torture-program.ts'
import { CONFIRMATIONS, createWorld, mint, type World } from './torture-world.ts'
import type { SenderEvent } from './types.ts'

const seed = seedOf()
const random = seeded(seed)
/** A process dies at each of these at least once. */
const STEPS: SenderEvent['type'][] = ['active', 'signed', 'stored', 'broadcast', 'mined', 'confirmed']
const INTENTS_PER_SIGNER = 14
const MOST_ROUNDS = 1_500
const PROGRAM = fileURLToPath(new URL('torture-program.ts', import.meta.url))

let database: TestDatabase
let worlds: World[]

beforeAll(async () => {
  database = await freshDatabase([chainMigrations])
  worlds = await Promise.all([createWorld(31_411, random), createWorld(31_412, random)])
})
afterAll(async () => {
  for (const replica of replicas) replica.end()
  await Promise.all(worlds.map((world) => world.close()))
  await database.drop()
})

interface Wish {
  id: bigint
  kind: 'good' | 'bad' | 'moody'
  world: World
  token: Address
  to: Address
}

const wishes: Wish[] = []
const seenEvents = new Map<string, number>()
const replicas: Replica[] = []

async function wish(world: World): Promise<void> {
  const { account, token } = pick(random, world.signers)
  const kind = pick(random, ['good', 'good', 'good', 'good', 'bad', 'moody'] as const)
  const to = freshAddress()
  // Somebody else's token does not let us mint.
  const other = world.signers.find((signer) => signer.token !== token)?.token ?? token
  const call = {
    good: { to: token, data: mint(to), value: 0n },
    bad: { to: other, data: mint(to), value: 0n },
    moody: { to: world.moody, data: '0x', value: 1n },
  } as const
  const key = `wish ${wishes.length}`
  const request = { chainId: world.chainId, from: account.address, key, ...call[kind] }
  const id = await database.sql.begin((tx) => enqueueTransaction(tx, request))
  wishes.push({ id, kind, world, token: kind === 'bad' ? other : token, to })
}

interface Replica {
  /** The step at which it is to die, null when it dies by chance. */
  step: SenderEvent['type'] | null
  isAlive(): boolean
  /** Whether it died at its step. */
  hasHit(): boolean
  end(): void
}

function launch(step: SenderEvent['type'] | null): Replica {
  const settings: TortureSettings = {
    databaseUrl: database.url,
    chains: worlds.map(({ chainId, proxies, signers }) => ({
      chainId,
      urls: proxies.map(({ url }) => url),
      keys: signers.map(({ key }) => key),
    })),
    confirmations: CONFIRMATIONS,
    crashAt: step && { event: step, nth: int(random, 1, 2) },
  }
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, TORTURE: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) {
      const type = line.split(' ', 1)[0] ?? ''
      if (type !== '') seenEvents.set(type, (seenEvents.get(type) ?? 0) + 1)
    }
  })
  let killed = false
  const replica = {
    step,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    hasHit: () => child.signalCode === 'SIGKILL' && !killed,
    end() {
      killed ||= child.signalCode === null
      child.kill('SIGKILL')
    },
  }
  replicas.push(replica)
  return replica
}

/** What is not decided yet. */
async function openWishes(): Promise<number> {
  const [row] = await database.sql<{ open: number }[]>`
    SELECT count(*)::int AS open FROM sender.intents WHERE state IN ('enqueued', 'sent')`
  return row?.open ?? 0
}

it(`takes each intent into effect once through crashes at every step, bad nodes and reorganisations (SEED=${seed})`, {
  timeout: 180_000,
}, async () => {
  const stepsToDo = [...STEPS]
  const total = INTENTS_PER_SIGNER * worlds.reduce((sum, { signers }) => sum + signers.length, 0)
  let running = [launch(stepsToDo[0] ?? null), launch(null)]
  let rounds = 0

  // Until every step has killed somebody; then whatever is left is done in peace.
  while (stepsToDo.length > 0 || wishes.length < total) {
    rounds += 1
    if (rounds > MOST_ROUNDS) throw new Error(`never died at ${stepsToDo.join(', ')}`)
    const world = pick(random, worlds)
    const dice = random()
    if (wishes.length < total || dice < 0.2) await wish(world)
    if (dice < 0.6) await world.mine()
    else if (dice < 0.68) await world.reorganise()
    else if (dice < 0.75) await world.dropFromPool()
    else if (dice < 0.77) await world.useNonce()
    else if (dice < 0.8) pick(random, running).end()
    running = running.map((replica) => {
      if (replica.isAlive()) return replica
      if (replica.hasHit() && replica.step && stepsToDo.includes(replica.step))
        stepsToDo.splice(stepsToDo.indexOf(replica.step), 1)
      return launch(stepsToDo.length > 0 ? pick(random, stepsToDo) : null)
    })
    await sleep(40)
  }

  for (const world of worlds) world.calm()
  for (const replica of running) replica.end()
  const last = launch(null)
  for (let round = 0; (await openWishes()) > 0 && round < MOST_ROUNDS; round += 1) {
    for (const world of worlds) await world.mine()
    await sleep(40)
  }
  last.end()
  console.info(summary(rounds))

  for (const { id, kind, world, token, to } of wishes) {
    const { client } = world.chain
    const status = await readTransaction(database.sql, { id })
    if (!status) throw new Error(`intent ${id} is gone`)
    const told = `intent ${id} (${kind}): ${status.state} ${status.reason ?? ''}`
    const minted = () =>
      client.readContract({ address: token, abi: sandboxUSDCAbi, functionName: 'balanceOf', args: [to] })
    if (kind === 'good') expect([told, await minted()]).toEqual([`intent ${id} (good): confirmed `, 1n])
    if (kind === 'bad') {
      expect([status.state, status.nonce, status.hashes], told).toEqual(['failed', null, []])
      expect(await minted()).toBe(0n)
    }
    if (status.nonce === null) continue
    const receipts = await Promise.all(
      status.hashes.map((hash) => client.getTransactionReceipt({ hash }).catch(() => undefined)),
    )
    const mined = receipts.filter((receipt) => receipt !== undefined)
    expect(
      mined.map((receipt) => [receipt.transactionHash, receipt.status]),
      told,
    ).toEqual([[status.mined?.hash, status.state === 'confirmed' ? 'success' : 'reverted']])
    expect(status.mined?.blockHash).toBe(mined[0]?.blockHash)
  }

  for (const { chainId, chain, signers, foreign, moody } of worlds) {
    const lucky = await database.sql`
        SELECT id FROM sender.intents
        WHERE chain_id = ${chainId} AND state = 'confirmed' AND to_address = ${Buffer.from(moody.slice(2), 'hex')}`
    expect(await chain.client.getBalance({ address: moody })).toBe(BigInt(lucky.length))
    for (const { account } of signers) {
      const from = Buffer.from(account.address.slice(2), 'hex')
      const [used] = await database.sql<{ count: number }[]>`
          SELECT count(*)::int AS count FROM sender.intents
          WHERE chain_id = ${chainId} AND from_address = ${from} AND mined_hash IS NOT NULL`
      const others = await Promise.all(
        foreign.map((hash) => chain.client.getTransactionReceipt({ hash }).catch(() => undefined)),
      )
      const byOthers = others.filter((receipt) => receipt?.from === account.address.toLowerCase())
      const count = await chain.client.getTransactionCount({ address: account.address })
      expect((used?.count ?? 0) + byOthers.length).toBe(count)
    }
    expect((await chain.client.getBlock({ blockTag: 'pending' })).transactions).toEqual([])
  }
})

function summary(rounds: number): string {
  const events = [...seenEvents].map(([type, times]) => `${type} ${times}`).join(', ')
  const faults = worlds
    .flatMap(({ proxies }) => proxies)
    .reduce((sum, { counts }) => sum + Object.values(counts).reduce((a, b) => a + b, 0), 0)
  return `SEED=${seed}: ${wishes.length} intents, ${replicas.length} processes, ${rounds} rounds, ${faults} RPC faults; ${events}`
}
