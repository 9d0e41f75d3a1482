import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, hexToBytes } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import { pick, seeded, seedOf } from '../testing/index.ts'
import { freshAddress } from './fixture.ts'
import {
  enqueueTransaction,
  handOverTransaction,
  readTransaction,
  type TransactionStatus,
  withdrawTransaction,
} from './outbox.ts'
import type { TortureSettings } from './torture-program.ts'
import { CONFIRMATIONS, createWorld, mint, type World } from './torture-world.ts'
import type { SenderEvent } from './types.ts'

const seed = seedOf()
const random = seeded(seed)
/** A process dies at each of these at least once. */
const STEPS: SenderEvent['type'][] = [
  'active',
  'signed',
  'stored',
  'broadcast',
  'mined',
  'confirmed',
  'failed',
  'reorganised',
  'nonce-lost',
]
const LEAST_INTENTS = 50
/** To have died everywhere, and again to bring everything to its end. */
const PATIENCE_MS = 300_000
const MINT_GAS = 120_000n
const PROGRAM = new URL('torture-program.ts', import.meta.url)

interface Wish {
  id: bigint
  kind: 'good' | 'bad' | 'moody'
  world: World
  token: Address
  to: Address
  isWithdrawn: boolean
}

interface Replica {
  isAlive(): boolean
  end(): void
}

let database: TestDatabase
let program: string
let worlds: World[]
const wishes: Wish[] = []
const replicas: Replica[] = []
const stepsToDo = new Set(STEPS)
const seenEvents = new Map<string, number>()
const accidents: string[] = []
let handedOver = 0

beforeAll(async () => {
  program = await bundled(PROGRAM)
  database = await freshDatabase([chainMigrations])
  worlds = await Promise.all([createWorld(31_411, random), createWorld(31_412, random)])
})
afterAll(async () => {
  for (const replica of replicas) replica.end()
  await Promise.all((worlds ?? []).map((world) => world.close()))
  await database?.drop()
})

it(`takes each intent into effect once through crashes at every step, bad nodes and reorganisations (SEED=${seed})`, {
  timeout: 2 * PATIENCE_MS + 60_000,
}, async () => {
  let running = [launch(), launch()]
  let rounds = 0
  let deadline = Date.now() + PATIENCE_MS
  while (stepsToDo.size > 0 || wishes.length < LEAST_INTENTS) {
    rounds += 1
    if (Date.now() > deadline) throw new Error(`nobody died at ${[...stepsToDo].join(', ')}`)
    await adventure(pick(random, worlds), running)
    running = running.map((replica) => (replica.isAlive() ? replica : launch()))
    expect(accidents).toEqual([])
    await sleep(30)
  }

  for (const world of worlds) world.calm()
  for (const replica of running) replica.end()
  const last = launch()
  deadline = Date.now() + PATIENCE_MS
  while ((await openIntents()) > 0 && Date.now() < deadline) {
    for (const world of worlds) await world.mine()
    await sleep(30)
  }
  last.end()
  console.info(summary(rounds))

  for (const wish of wishes) await checkWish(wish)
  for (const world of worlds) await checkNonces(world)
})

async function adventure(world: World, running: Replica[]): Promise<void> {
  const dice = random()
  if (wishes.length < LEAST_INTENTS ? dice < 0.4 : dice < 0.1) await makeWish(world)
  if (dice < 0.45) await world.mine()
  else if (dice < 0.65) await world.reorganise()
  else if (dice < 0.75) await world.dropFromPool()
  else if (dice < 0.85) await world.useNonce()
  else if (dice < 0.87) pick(random, running).end()
  else if (dice < 0.9) await withdrawNewest()
  else if (dice < 0.94) await handOverNewest()
}

async function makeWish(world: World): Promise<void> {
  const { account, token } = pick(random, world.signers)
  const kind = pick(random, ['good', 'good', 'good', 'good', 'bad', 'moody'] as const)
  const to = freshAddress()
  // Somebody else's token does not let us mint.
  const other = world.signers.find((signer) => signer.token !== token)?.token ?? token
  const call = {
    good: { to: token, data: mint(to), ...(random() < 0.5 && { gas: MINT_GAS }) },
    bad: { to: other, data: mint(to) },
    moody: { to: world.moody, data: '0x', value: 1n },
  } as const
  const request = {
    chainId: world.chainId,
    from: account.address,
    key: `wish ${wishes.length}`,
    ...call[kind],
  }
  const id = await database.sql.begin((tx) => enqueueTransaction(tx, request))
  wishes.push({ id, kind, world, token: kind === 'bad' ? other : token, to, isWithdrawn: false })
}

/** The one most likely to be still in the line, while senders work on it. */
async function withdrawNewest(): Promise<void> {
  const wish = wishes.at(-1)
  if (wish) wish.isWithdrawn ||= await withdrawTransaction(database.sql, wish.id)
}

/** Only to one who means the same by it, as everybody does who is moody. */
async function handOverNewest(): Promise<void> {
  const wish = wishes.findLast(({ kind }) => kind === 'moody')
  if (!wish) return
  const [one, other] = wish.world.signers.map(({ account }) => account.address)
  if (!one || !other) throw new Error('a world has two signers')
  const [from, to] = random() < 0.5 ? [one, other] : [other, one]
  if (await handOverTransaction(database.sql, wish.id, { from, to })) handedOver += 1
}

/** A process that dies at the first of the steps that nobody has died at yet. */
function launch(): Replica {
  const settings: TortureSettings = {
    databaseUrl: database.url,
    chains: worlds.map(({ chainId, proxies, signers }) => ({
      chainId,
      urls: proxies.map(({ url }) => url),
      keys: signers.map(({ key }) => key),
    })),
    confirmations: CONFIRMATIONS,
    crashAt: [...stepsToDo],
  }
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, TORTURE: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface(child.stdout).on('line', (line) => {
    const type = line.split(' ', 1)[0] as SenderEvent['type']
    seenEvents.set(type, (seenEvents.get(type) ?? 0) + 1)
    if (settings.crashAt.includes(type)) stepsToDo.delete(type)
  })
  let isAlive = true
  child.once('close', (code, signal) => {
    isAlive = false
    if (signal !== 'SIGKILL') accidents.push(`a sender ended by itself with ${code ?? signal}`)
  })
  const replica = { isAlive: () => isAlive, end: () => void child.kill('SIGKILL') }
  replicas.push(replica)
  return replica
}

async function openIntents(): Promise<number> {
  const [row] = await database.sql<{ open: number }[]>`
    SELECT count(*)::int AS open FROM sender.intents WHERE state IN ('enqueued', 'sent')`
  return row?.open ?? 0
}

async function checkWish({ id, kind, world, token, to, isWithdrawn }: Wish): Promise<void> {
  const status = await readTransaction(database.sql, { id })
  if (!status) throw new Error(`intent ${id} is gone`)
  const told = `intent ${id} (${kind}) is ${status.state}: ${status.reason}`
  const call = { address: token, abi: sandboxUSDCAbi, functionName: 'balanceOf', args: [to] } as const
  const minted = await world.chain.client.readContract(call)
  if (isWithdrawn)
    expect([status.state, status.reason, status.nonce, minted], told).toEqual([
      'failed',
      'withdrawn',
      null,
      0n,
    ])
  else if (kind === 'good') expect([status.state, minted], told).toEqual(['confirmed', 1n])
  else if (kind === 'bad')
    expect([status.state, status.nonce, status.hashes, minted], told).toEqual(['failed', null, [], 0n])
  if (status.nonce !== null) await checkMined(status, world, told)
}

/** One of its hashes is on the chain, with the outcome that the database tells. */
async function checkMined(status: TransactionStatus, { chain }: World, told: string): Promise<void> {
  const receipts = await Promise.all(
    status.hashes.map((hash) => chain.client.getTransactionReceipt({ hash }).catch(() => undefined)),
  )
  const mined = receipts.flatMap((receipt) =>
    receipt ? [{ hash: receipt.transactionHash, blockHash: receipt.blockHash, status: receipt.status }] : [],
  )
  expect(mined, told).toEqual([
    {
      hash: status.mined?.hash,
      blockHash: status.mined?.blockHash,
      status: status.state === 'confirmed' ? 'success' : 'reverted',
    },
  ])
}

/** Every nonce that the chain took was one intent's, or a stranger's; and what the moody contract has is what it was given. */
async function checkNonces({ chainId, chain, signers, foreign, moody }: World): Promise<void> {
  const { client } = chain
  const strangers = await Promise.all(
    foreign.map((hash) => client.getTransactionReceipt({ hash }).catch(() => undefined)),
  )
  for (const { account } of signers) {
    const ours = await database.sql<{ nonce: bigint }[]>`
      SELECT nonce FROM sender.intents
      WHERE chain_id = ${chainId} AND from_address = ${hexToBytes(account.address)} AND mined_hash IS NOT NULL`
    const theirs = strangers.filter((receipt) => receipt?.from === account.address.toLowerCase())
    const count = await client.getTransactionCount({ address: account.address })
    expect(ours.length + theirs.length).toBe(count)
  }
  const [lucky] = await database.sql<{ count: bigint }[]>`
    SELECT count(*) FROM sender.intents
    WHERE chain_id = ${chainId} AND state = 'confirmed' AND to_address = ${hexToBytes(moody)}`
  expect(await client.getBalance({ address: moody })).toBe(lucky?.count)
  expect((await client.getBlock({ blockTag: 'pending' })).transactions).toEqual([])
}

function summary(rounds: number): string {
  const events = [...seenEvents].map(([type, times]) => `${type} ${times}`).join(', ')
  const faults = worlds
    .flatMap(({ proxies }) => proxies)
    .reduce((sum, { counts }) => sum + Object.values(counts).reduce((a, b) => a + b, 0), 0)
  const withdrawn = wishes.filter(({ isWithdrawn }) => isWithdrawn).length
  return `SEED=${seed}: ${wishes.length} intents (${withdrawn} withdrawn, ${handedOver} times handed over), ${replicas.length} processes, ${rounds} rounds, ${faults} RPC faults; ${events}`
}
