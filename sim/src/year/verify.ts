import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, migrate, type Sql, startPostgres } from '@referrer/database'
import { migrations } from '@referrer/service'
import type { Market } from '../market.ts'
import { compareFindings, compareProducts, compareRanks, compareSpent } from './compare.ts'
import { createReplay, type Replay } from './replay.ts'

/** Creates a temporary database, which `end` deletes. */
export async function verifyYear() {
  const directory = await mkdtemp(join(tmpdir(), 'referrer-sim-'))
  const server = await startPostgres({ directory, settings: { synchronous_commit: 'off' } })
  const sql = connect(server.url, { max: 3, name: 'sim' })
  await migrate(sql, migrations)
  const comparing = comparer(sql)
  return {
    ...comparing,
    async end() {
      await sql.end()
      await server.stop()
      await rm(directory, { recursive: true })
    },
  }
}

export function comparer(sql: Sql) {
  let replay: Replay | undefined
  let compared = 0
  return {
    /** Throws at the first difference. Ranks are compared every time, the rest only with `hasAll`. */
    async compare(market: Market, hasAll: boolean): Promise<void> {
      replay ??= createReplay(sql, market)
      await replay.catchUp()
      compared += await compareRanks(replay, market)
      if (!hasAll) return
      compared += (await compareProducts(replay, market)) + (await compareFindings(replay, market))
      compared += await compareSpent(replay, market)
    },
    compared: () => compared,
  }
}
