import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { createDatabase } from '../databases.ts'
import { createParts } from '../parts.ts'
import { listening } from '../processes.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { CONTENDERS, type Contender, type Server } from './contenders.ts'
import type { Way } from './load.ts'
import { connectTo, openShop } from './market.ts'
import { type Case, countCalls, type Measured, measure, type Stage } from './measure.ts'
import { signPayments } from './payments.ts'
import { createSummary } from './summary.ts'

type Plan = { contenders: Contender[]; cases: Case[] }

const BUYERS = 64
const RELAYERS = 4
/** Payments of each buyer. */
const USUAL = { closed: 10, burst: 40 }
const QUICK = { closed: 2, burst: 4 }

const HELP = `bench:settle: how many payments a second one facilitator settles

Compared, one after the other, each a process of its own that is asked over HTTP by this one:
  stock          the official facilitator (@x402/core with @x402/evm), one relayer key
  nonceManager   the same with viem's nonceManager
  ours           our facilitator with one relayer key, on Postgres (fsync on)
  ours_four_keys the same with four
The official one makes a bare transfer of a payment. Ours splits it among five parties and opens an escrow, so that it needs more gas.
${BUYERS} buyers pay with authorisations that the official client signed before the clock starts:
  closed         a buyer pays again when the payment before has been answered. In blocks of a second nobody can settle more than
                 ${BUYERS} a second of these
  burst          all payments of all buyers are sent at once
both in blocks of a second and with a block for each transaction, on a chain that is a process of its own and holds nothing but the
shop at the beginning of each run. Afterwards every settlement that was answered is looked up on the chain, where it must be once.
Times are of payments that were settled; gas is all that the relayers used, for each of them; CPU is the facilitator's own, without
Postgres, and the node's. Chain, Postgres, facilitator and buyers share the machine's cores.

  --quick        a fifth of the payments: for trying out, not for figures
  --only NAME    one facilitator alone
  --case NAME    one case alone: ${casesOf(USUAL)
    .map(({ name }) => name)
    .join(', ')}
  --keep         keep the logs, and say where they are`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    case: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const contenders = chosen('only', CONTENDERS)
  const cases = chosen('case', casesOf(values.quick ? QUICK : USUAL))
  await withPostgres('settle', (postgres, directory) => onChain({ contenders, cases }, postgres, directory), {
    keep: values.keep,
  })
}

async function onChain(plan: Plan, postgres: PostgresServer, directory: string): Promise<void> {
  const program = fileURLToPath(new URL('chain.ts', import.meta.url))
  const chain = await listening('the chain', { args: [program] }, join(directory, 'chain.log'))
  try {
    const each = Math.max(...plan.cases.map(({ each }) => each))
    const stage = await setStage(chain, postgres, directory, each)
    await compare(stage, plan)
  } finally {
    await chain.process.stop()
  }
}

function chosen<T extends { name: string }>(flag: 'only' | 'case', all: T[]): T[] {
  const wanted = values[flag]
  const found = all.filter(({ name }) => wanted === undefined || wanted === name)
  if (found.length === 0) throw new Error(`--${flag} takes one of ${all.map(({ name }) => name).join(', ')}`)
  return found
}

function casesOf(each: Record<Way, number>): Case[] {
  return (['1s', 'automine'] as const).flatMap((blocks) =>
    (['closed', 'burst'] as const).map((way) => ({
      name: blocks === '1s' ? `${way}1s` : `${way}_automine`,
      title: blocks === '1s' ? `${way}, 1 s blocks` : `${way}, automine`,
      way,
      blocks,
      each: each[way],
    })),
  )
}

async function setStage(
  { url: rpcUrl, process: node }: Server,
  postgres: PostgresServer,
  directory: string,
  each: number,
): Promise<Stage> {
  progress('opening the shop')
  const client = connectTo(rpcUrl)
  const shop = await openShop(client, { buyers: BUYERS, relayers: RELAYERS })
  progress('signing the payments')
  const payments = {
    escrow: await signPayments(shop, shop.market.addresses.SplitRouter, each + 1),
    transfer: await signPayments(shop, shop.wallet, each + 1),
  }
  let id = await client.snapshot()
  async function rewind(): Promise<void> {
    await client.setIntervalMining({ interval: 0 })
    await client.setAutomine(true)
    await client.revert({ id })
    id = await client.snapshot()
  }
  return { shop, node, rpcUrl, createDatabase: databasesOf(postgres), directory, payments, rewind }
}

function databasesOf(server: PostgresServer): () => Promise<string> {
  let count = 0
  return () => createDatabase(server, `settle_${++count}`)
}

async function compare(stage: Stage, { contenders, cases }: Plan): Promise<void> {
  const parts = createParts()
  const summary = createSummary(parts)
  for (const plan of cases) {
    const measured = new Map<Contender, Measured>()
    for (const contender of contenders) {
      await parts.run(`${plan.title}, ${contender.title}`, async () => {
        const found = await measure(stage, contender, plan)
        measured.set(contender, found)
        progress(`${plan.title}, ${contender.title}: ${found.perSecond.toFixed(1)} a second`)
        if (found.failure) progress(`  ${found.failures} failed, most often with "${found.failure}"`)
      })
    }
    summary.add(plan, measured)
  }
  for (const contender of contenders) {
    await parts.run(`calls of the node, ${contender.title}`, async () => {
      const calls = await countCalls(stage, contender)
      progress(`${contender.title}: ${calls.toFixed(1)} calls of the node for a settlement`)
      summary.addCalls(contender, calls)
    })
  }
  summary.tell()
}
