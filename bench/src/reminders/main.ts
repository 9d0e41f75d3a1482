import { parseArgs } from 'node:util'
import type { PostgresServer, Sql } from '@referrer/database'
import type { Chain, Context } from '@referrer/service'
import { followOnce, noticesFollower, sendDue } from '@referrer/service/testing'
import { report } from '../report.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { CHAIN_ID, createFilled, makeDue, NOW } from './fill.ts'

const HELP = `bench:reminders: what it costs to find and send review reminders with 100,000 open escrows

Compared, on Postgres with fsync on:
  ours    each second the worker looks for notices that are due, by an index; it claims, marks and records each message
  plain   a query once a day over all open escrows without a review that were made 3, 14, 30 or 50 days ago; it sends and records nothing
The messenger answers at once. Rows read are those that Postgres counts for all tables and indexes.

  --escrows <number>   another number of open escrows, from 10,000 on`

const { values } = parseArgs({
  options: { help: { type: 'boolean' }, escrows: { type: 'string', default: '100000' } },
})
const LOOKS = 500
const PLAINLY = 10
const DUE = 1_000
const CHANGES = 20
const CHANGED_AT_ONCE = 100

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const escrows = Number(values.escrows)
  if (!Number.isSafeInteger(escrows) || escrows < 10_000)
    throw new Error('--escrows takes a number from 10,000 on')
  await withPostgres('reminders', (postgres) => measureAll(postgres, escrows))
}

interface Measured {
  ms: number
  rows: number
  sent: number
}

async function measureAll(postgres: PostgresServer, escrows: number): Promise<void> {
  progress(`filling ${escrows.toLocaleString('en')} open escrows`)
  const sql = await createFilled(postgres, escrows)
  try {
    progress('a look when nothing is due')
    const look = await measure(sql, LOOKS, () => pass(sql))
    progress('the query of a day')
    const plain = await measure(sql, PLAINLY, () => findPlainly(sql))
    progress('purchases that change')
    const changed = await measure(sql, CHANGES, () => follow(sql))
    await makeDue(sql, DUE)
    progress(`${DUE} reminders`)
    const due = await measure(sql, 1, () => pass(sql))
    if (look.sent !== 0 || due.sent !== DUE || plain.sent === 0)
      throw new Error(`sent ${look.sent} and ${due.sent}, found ${plain.sent}: not what was filled in`)
    tell({ look, changed, due, plain })
  } finally {
    await sql.end()
  }
}

/** What the worker does until nothing more is due. */
async function pass(sql: Sql): Promise<number> {
  let sent = 0
  const channel = {
    name: 'bench',
    deduplicates: false,
    send: async () => {
      sent += 1
      return { state: 'sent' }
    },
  }
  const context = {
    sql,
    chains: new Map([[CHAIN_ID, {}]]),
    channels: new Map([[channel.name, channel]]),
    clock: () => NOW.getTime() + 1_000,
  } as unknown as Context
  while ((await sendDue(context, new Map())) > 0);
  return sent
}

/** What the follower does when purchases have changed. Returns how many reminders that sends. */
async function follow(sql: Sql): Promise<number> {
  await sql`
    INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
    SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id
    FROM chain.escrows WHERE chain_id = ${CHAIN_ID} AND escrow_id <= ${CHANGED_AT_ONCE}`
  await followOnce({ sql, clock: () => NOW.getTime() }, { config: { chainId: CHAIN_ID } } as Chain, [
    noticesFollower,
  ])
  return 0
}

/** What one would write without a table of notices. */
async function findPlainly(sql: Sql): Promise<number> {
  const { count } = await sql`
    SELECT l.channel, l.chat, e.escrow_id, e.price, p.name FROM chain.escrows AS e
    JOIN chain.identities AS i ON i.chain_id = e.chain_id AND i.agent_id = e.buyer_agent_id
    JOIN market.chat_links AS l ON l.owner = i.owner
    JOIN market.products AS p
      ON p.chain_id = e.chain_id AND p.merchant_id = e.merchant_id AND p.product_id = e.product_id
    WHERE e.settled_at IS NULL AND e.window_end > ${NOW}
      AND extract(day FROM ${NOW}::timestamptz - e.deposited_at) IN (3, 14, 30, 50)
      AND NOT EXISTS (
        SELECT FROM chain.reviews AS c
        WHERE c.chain_id = e.chain_id AND c.proof_kind = 2 AND c.proof_id = e.escrow_id
          AND c.agent_id = e.buyer_agent_id)`
  return count
}

async function measure(sql: Sql, rounds: number, work: () => Promise<number>): Promise<Measured> {
  const before = await rowsRead(sql)
  const times: number[] = []
  let sent = 0
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now()
    sent = await work()
    times.push(performance.now() - begun)
  }
  const rows = ((await rowsRead(sql)) - before) / rounds
  return { ms: times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN, rows, sent }
}

async function rowsRead(sql: Sql): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`
  const [row] = await sql<{ rows: number }[]>`
    SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname IN ('chain', 'market'))
      + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname IN ('chain', 'market')))::float8 AS rows`
  return row?.rows ?? Number.NaN
}

function tell({ look, changed, due, plain }: Record<'look' | 'changed' | 'due' | 'plain', Measured>): void {
  const line = (what: string, { ms, rows, sent }: Measured) => ({
    what,
    ms: ms.toFixed(2),
    'rows read': Math.round(rows).toLocaleString('en'),
    reminders: sent.toLocaleString('en'),
  })
  report({
    name: 'reminders',
    figures: {
      look_ms: look.ms,
      look_rows: look.rows,
      changed_ms: changed.ms,
      changed_rows: changed.rows,
      due_ms: due.ms,
      due_rows: due.rows,
      due_sent: due.sent,
      plain_ms: plain.ms,
      plain_rows: plain.rows,
      plain_found: plain.sent,
    },
    ratios: { plain_to_look_ms: plain.ms / look.ms, plain_to_look_rows: plain.rows / Math.max(1, look.rows) },
    rows: [
      line('ours, a look when nothing is due', look),
      line(`ours, ${CHANGED_AT_ONCE} purchases change`, changed),
      line(`ours, ${DUE.toLocaleString('en')} due: found, sent and recorded`, due),
      line('plain, the query of a day: found only', plain),
    ],
  })
}
