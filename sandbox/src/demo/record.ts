// Reads what playing has left: the transactions of the chain and the rows of the records, with times relative to the end.

import type { Addresses } from '@referrer/contracts/deploy'
import { developmentAccount, type Market } from '@referrer/contracts/local'
import { connect } from '@referrer/database'
import type { Address } from 'viem'
import type { Sandbox } from '../sandbox.ts'
import { DEMO_ACCOUNTS } from './cast.ts'
import { DAYS } from './plan.ts'
import type { DayMark, Played } from './play.ts'
import { type Call, DAY_SECONDS, planDigest, type Row, SHOP_URL, type Snapshot } from './snapshot.ts'
import { columnsOf, TABLES } from './tables.ts'

export async function record({ market, databaseUrl, state }: Sandbox, played: Played): Promise<Snapshot> {
  const { agentIds, merchantIds, days } = played
  return {
    plan: planDigest(),
    contracts: market.addresses,
    agentIds,
    merchantIds,
    calls: await recordCalls(market, days),
    rows: await recordRows(databaseUrl, days, state.shopUrl),
  }
}

/** The transactions of each day, spread over it. Those of the oracle are left out: it decides anew. */
async function recordCalls(
  { client, addresses, accounts }: Market,
  days: readonly DayMark[],
): Promise<Call[]> {
  const indexOf = new Map(
    Array.from({ length: DEMO_ACCOUNTS }, (_, index) => [
      developmentAccount(index).address.toLowerCase(),
      index,
    ]),
  )
  const nameOf = new Map(
    Object.entries(addresses).map(([name, address]) => [address.toLowerCase(), name as keyof Addresses]),
  )
  const calls: Call[] = []
  for (const [day, { block: before }] of days.slice(0, -1).entries()) {
    const last = days[day + 1]?.block ?? before
    const sent: Omit<Call, 'at'>[] = []
    for (let number = before + 1n; number <= last; number++) {
      const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
      for (const { from, to, gas, input } of transactions) {
        if (from.toLowerCase() === accounts.oracle.address.toLowerCase()) continue
        const [sender, called] = [indexOf.get(from.toLowerCase()), nameOf.get((to as Address).toLowerCase())]
        if (sender === undefined || !called) throw new Error(`nobody of the demo sends from ${from} to ${to}`)
        sent.push({ from: sender, to: called, gas: Number(gas), data: input })
      }
    }
    const start = (day - DAYS) * DAY_SECONDS
    const step = DAY_SECONDS / (sent.length + 1)
    calls.push(...sent.map((call, at) => ({ at: start + Math.floor(step * (at + 1)), ...call })))
  }
  return calls
}

async function recordRows(databaseUrl: string, days: readonly DayMark[], shopUrl: string) {
  const sql = connect(databaseUrl, { max: 1, name: 'demo' })
  const rows: Record<string, Row[]> = {}
  try {
    for (const table of TABLES) {
      const { all, times } = await columnsOf(sql, table)
      const recorded = await sql<{ row: Row }[]>`
        SELECT to_jsonb(chosen) AS row FROM (SELECT ${sql(all)} FROM ${sql(table)}) AS chosen ORDER BY 1`
      rows[table] = recorded.map(({ row }) => {
        for (const name of times)
          if (row[name] !== null) row[name] = relative(Date.parse(String(row[name])), days)
        return JSON.parse(JSON.stringify(row).replaceAll(shopUrl, SHOP_URL))
      })
    }
    return rows
  } finally {
    await sql.end()
  }
}

/** Milliseconds before the end of the history: a day of the demo was played in an instant. */
function relative(moment: number, days: readonly DayMark[]): number {
  const day = Math.max(
    days.findLastIndex(({ at }, place) => at <= moment && place < DAYS),
    0,
  )
  const [from, to] = [days[day]?.at ?? moment, days[day + 1]?.at ?? moment]
  const share = Math.min(Math.max((moment - from) / Math.max(to - from, 1), 0), 1)
  return Math.floor((day - DAYS + share) * DAY_SECONDS * 1_000)
}
