import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Parts } from '../parts.ts'
import { progress } from '../stage.ts'
import { type Contender, compare, type Plan } from './compare.ts'
import type { Load } from './load.ts'
import { type FilledMarket, someReviews } from './market.ts'
import { record } from './recording.ts'
import { type Request, serialize } from './request.ts'
import { LISTINGS, type Listing, listing, oneReview, reviewRanks, spendingLimits } from './requests.ts'
import { type Server, startBare } from './servers.ts'
import type { Signers } from './signing.ts'
import type { Summary } from './summary.ts'

const REVIEWS = 2_000
/** How many signed requests a round has; it ends when all are answered. */
const SIGNED = { ours: 2_000, viem: 300 }
const BUSY = { rounds: 3, ms: 1_500, connections: 64 }
/** Callers who ask for the same page at the same moment share one query; a single caller shows the whole cost. */
const ALONE = { rounds: 3, ms: 1_000, connections: 1 }
/** The target: with a hundred times the rows a page has at least this share of its speed. */
const FLAT = 0.8

/** Sends the requests in turn, and starts again after the last. */
export function again(requests: readonly Request[]): Contender['prepare'] {
  const wire = requests.map(serialize)
  let at = 0
  return async () => () => wire[at++ % wire.length]
}

function each(requests: readonly Request[]): Load['next'] {
  const left = requests.map(serialize).values()
  return () => left.next().value
}

export type Stage = {
  ours: Server
  viem: Server
  market: FilledMarket
  directory: string
  signers: Signers
  summary: Summary
  parts: Parts
}

/** Against a bare server that has the same answers ready. */
export async function measureReads({ ours, market, directory, summary, parts }: Stage): Promise<void> {
  const cases: { name: string; requests: Request[]; plan: Plan; least?: number }[] = [
    { name: '100 reviews', requests: [listing('reviews')], plan: BUSY },
    { name: '100 reviews, one caller', requests: [listing('reviews')], plan: ALONE },
    { name: '20 agents', requests: [listing('agents')], plan: BUSY },
    { name: '20 agents, one caller', requests: [listing('agents')], plan: ALONE },
    {
      name: 'one review',
      requests: (await someReviews(market, REVIEWS)).map(oneReview),
      plan: BUSY,
      least: 0.5,
    },
  ]
  for (const { name, requests, plan, least } of cases) {
    progress(name)
    await parts.run(name, () =>
      withBare(ours, requests, directory, async (bare) => {
        const contenders = Object.entries({ bare, ours }).map(([name, server]) => ({
          name,
          server,
          prepare: again(requests),
        }))
        summary.add(name, await compare(contenders, plan), 'ours', [{ to: 'bare', least }])
      }),
    )
  }
}

/** Against the bare server, and against the service with the recovery of viem. */
export async function measureSigned(stage: Stage): Promise<void> {
  const { market, signers, parts } = stage
  const count = SIGNED.ours
  await parts.run('signed GET', async () => {
    const reads = await signers.sign(reviewRanks(count, market.rows))
    // A signed read may be repeated: the service keeps no record of it.
    await measureSignedCase(stage, 'signed GET', reads, async (count) => reads.slice(0, count))
  })
  await parts.run('signed POST', async () => {
    const writes = await signers.sign(spendingLimits(count))
    await measureSignedCase(stage, 'signed POST', writes, (count) => signers.sign(spendingLimits(count)))
  })
}

async function measureSignedCase(
  { ours, viem, directory, summary }: Stage,
  name: string,
  recorded: Request[],
  fresh: (count: number) => Promise<Request[]>,
): Promise<void> {
  progress(name)
  await withBare(ours, recorded, directory, async (bare) => {
    const measured = await compare(
      [
        { name: 'bare', server: bare, prepare: again(recorded) },
        { name: 'ours', server: ours, prepare: async () => each(await fresh(SIGNED.ours)) },
        { name: 'viem', server: viem, prepare: async () => each(await fresh(SIGNED.viem)) },
      ],
      BUSY,
    )
    summary.add(name, measured, 'ours', [{ to: 'bare' }, { to: 'viem', least: 8 }])
  })
}

/** The same page on few rows and on many. */
export async function measureFlatness(
  markets: readonly { server: Server; rows: number }[],
  { summary, parts }: Pick<Stage, 'summary' | 'parts'>,
): Promise<void> {
  for (const name of Object.keys(LISTINGS) as Listing[]) {
    for (const page of ['first', 'middle'] as const) {
      const title = `${name}, ${page} page`
      progress(title)
      await parts.run(title, async () => {
        const contenders = await Promise.all(
          markets.map(async ({ server, rows }): Promise<Contender> => {
            const number = page === 'first' ? 1 : await middlePage(server, name)
            return { name: `${rows / 1_000}k rows`, server, prepare: again([listing(name, number)]) }
          }),
        )
        const [few = '', many = ''] = contenders.map((contender) => contender.name)
        summary.add(title, await compare(contenders, ALONE), many, [
          { to: few, by: 'p50', least: page === 'first' ? FLAT : undefined },
        ])
      })
    }
  }
}

async function middlePage({ url }: Server, name: Listing): Promise<number> {
  const answer = await fetch(`${url}${listing(name).path}`)
  const { total } = (await answer.json()) as { total: number }
  return Math.ceil(total / LISTINGS[name].rowsPerPage / 2)
}

/** With a bare server that answers these requests as ours does. */
async function withBare(
  ours: Server,
  requests: readonly Request[],
  directory: string,
  work: (bare: Server) => Promise<void>,
): Promise<void> {
  const file = join(directory, 'recording.json')
  writeFileSync(file, JSON.stringify(await record(ours.url, requests)))
  const bare = await startBare(file, directory)
  try {
    await work(bare)
  } finally {
    await bare.process.stop()
  }
}
