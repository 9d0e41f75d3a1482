import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect } from '@referrer/database'
import { interrupt, listening } from '../processes.ts'
import { report } from '../report.ts'
import { connectTo, type Shop } from '../settle/market.ts'
import { fail, progress, warnIfBusy } from '../stage.ts'
import { auditCluster, lookBefore } from './audit.ts'
import { balance } from './balancer.ts'
import { startCluster } from './cluster.ts'
import { type Faults, inject } from './faults.ts'
import { createJourneys, type Traveller } from './journeys.ts'
import { openMarket, pledge } from './market.ts'
import { allReady, type Member } from './members.ts'
import { type Pair, startPair } from './pair.ts'
import { createPurchases } from './purchases.ts'
import { rowsOf } from './summary.ts'
import { createTally, type Tally } from './tally.ts'
import { createWrites } from './writes.ts'

const HELP = `bench:cluster: a market on many processes, while they are killed

Three API processes, two with indexer and workers, two facilitators, and a primary and a standby of Postgres with synchronous
replication, all on this machine, on a chain of its own with a block a second. Buyers pay, agents buy, vote and review, owners
set caps. Meanwhile processes are killed with SIGKILL at random, every three to seven seconds, and started again a second later;
after two thirds of the time the primary is killed and the standby takes over. Nothing of ours is restarted for that.

Callers repeat what failed. Afterwards everything that anybody was told is looked up on the chain and in the records: a payment,
a vote, a review or a cap that is missing, a payment or cashback that is there twice, or an owner who read an older cap than he had set,
fails the benchmark. So does a failure that no repetition hides.

  --seconds N   how long processes are killed (default 180)
  --seed N      of what is killed when (default: by the clock, and printed)
  --keep        keep the logs, and say where they are`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    seconds: { type: 'string', default: '180' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    keep: { type: 'boolean', default: false },
  },
})

const BUYERS = 8
const TRAVELLERS = 4
const READY_MS = 180_000

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  warnIfBusy()
  const directory = mkdtempSync(join(tmpdir(), 'bench-cluster-'))
  // Postgres does not run as root: the user that it runs as must reach its directory.
  chmodSync(directory, 0o711)
  try {
    const program = fileURLToPath(new URL('../settle/chain.ts', import.meta.url))
    progress('starting the chain and the two Postgres servers')
    const chain = await listening('the chain', { args: [program] }, join(directory, 'chain.log'))
    const pair = await startPair()
    try {
      await onStage(chain.url, pair, directory)
    } finally {
      await pair.stop()
      await chain.process.stop()
    }
  } finally {
    if (values.keep) console.log(`kept in ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

async function onStage(rpcUrl: string, pair: Pair, directory: string): Promise<void> {
  const client = connectTo(rpcUrl)
  progress('opening the shop')
  const { shop, travellers } = await openMarket(client, { buyers: BUYERS, travellers: TRAVELLERS + 1 })
  const databases = {
    service: await pair.createDatabase('service'),
    facilitator: await pair.createDatabase('facilitator'),
  }
  progress('starting three API processes, two workers, two facilitators')
  const members = await startCluster({ shop, rpcUrl, databases, directory })
  try {
    await allReady(members, READY_MS)
    await underLoad(await prepared(shop, members), travellers, members, pair, databases)
  } finally {
    await Promise.all(members.map((member) => member.stop()))
  }
}

async function prepared(shop: Shop, members: readonly Member[]): Promise<Shop> {
  const withPledge = await pledge(shop, balance(ofKind(members, 'api')))
  await shop.market.client.setAutomine(false)
  await shop.market.client.setIntervalMining({ interval: 1 })
  return withPledge
}

function ofKind(members: readonly Member[], kind: Member['kind']): Member[] {
  return members.filter((member) => member.kind === kind)
}

async function underLoad(
  shop: Shop,
  [first, ...travellers]: readonly Traveller[],
  members: readonly Member[],
  pair: Pair,
  databases: { service: string; facilitator: string },
): Promise<void> {
  const api = balance(ofKind(members, 'api'))
  const tallies = {
    payments: createTally(),
    journeys: createTally(),
    write: createTally(),
    read: createTally(),
  }
  const purchases = createPurchases(shop, balance(ofKind(members, 'facilitator')), tallies.payments)
  const service = connect(databases.service, { max: 2, name: 'bench' })
  const facilitator = connect(databases.facilitator, { max: 1, name: 'bench' })
  try {
    const before = await lookBefore(shop)
    const { chain } = shop.market.client
    const journeysOf = (people: readonly Traveller[], helpful: number | undefined) =>
      createJourneys({ shop, travellers: people, helpful, purchases, api, tally: tallies.journeys })
    // The first one has nothing to vote for: its review is what the others vote for.
    progress('a first agent buys and reviews')
    const beginning = journeysOf(first ? [first] : [], undefined)
    let rounds = 0
    await beginning.run(() => rounds++ > 0)
    const [reviewed] = beginning.ended
    if (!reviewed) throw new Error(`the first review failed: ${tallies.journeys.lost.join('; ')}`)
    const [row] = await service<{ internal_id: bigint }[]>`
      SELECT internal_id FROM chain.reviews WHERE review_id = ${reviewed.reviewId}`

    let isOver = false
    const over = () => isOver
    const writes = createWrites(shop.buyers.slice(0, 4), {
      chainId: chain.id,
      api,
      tallies: { write: tallies.write, read: tallies.read },
    })
    const journeys = journeysOf(travellers, Number(row?.internal_id))
    const seconds = Number(values.seconds)
    progress(`under load for ${seconds} s, seed ${values.seed}`)
    const load = Promise.all([purchases.run(over), journeys.run(over), writes.run(over)])
    const faults = await Promise.race([
      inject(members, pair, { seconds, random: randomOf(Number(values.seed)) }),
      load.then((): Faults => ({ kills: [], failOvers: [] })),
    ])
    isOver = true
    await load
    progress('waiting until everything is sent, indexed and settled')
    await allReady(members, READY_MS)
    const ended = [...beginning.ended, ...journeys.ended]
    const found = await auditCluster(shop, { service, facilitator }, before, {
      outcomes: purchases.outcomes,
      journeys: ended,
      writes,
    })
    const { rows, figures } = rowsOf({ tallies, faults, found, seconds })
    report({ name: 'cluster', figures, ratios: {}, rows })
    printFailures(tallies)
    const lost = Object.values(tallies).flatMap((tally) => tally.lost)
    if (lost.length > 0)
      throw new Error(`${lost.length} failures that no repetition hid, such as: ${lost[0]}`)
  } finally {
    await Promise.all([service.end(), facilitator.end()])
  }
}

/** What failed, and how often: all of it hidden by repeating, unless it says otherwise. */
function printFailures(tallies: Record<string, Tally>): void {
  for (const [name, { failures, lost }] of Object.entries(tallies)) {
    for (const [reason, count] of failures) {
      console.log(`${name}: ${count} times ${reason}${lost.includes(reason) ? ' (LOST)' : ''}`)
    }
  }
}

/** A small generator (mulberry32): the same seed kills the same processes. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
