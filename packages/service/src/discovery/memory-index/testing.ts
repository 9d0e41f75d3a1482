import type { Sql } from '@referrer/database'
import { Secret } from '@referrer/process'
import type { Hit, Question } from '@referrer/search'
import { testConfig, testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { runAlone } from '../../machinery/workers/testing.ts'
import { Catalogues } from './catalogues.ts'
import { type SearchOptions, searchIndex, searchState, searchWorker } from './client.ts'
import type { Model } from './records.ts'

export const POLL_MS = 20

export const asked = (intent: string, more: Partial<Question> = {}): Question => ({
  intent,
  vector: undefined,
  category: undefined,
  ceiling: undefined,
  limit: 10,
  ...more,
})

export function replicaContext(
  sql: Sql,
  url: string,
  chainIds: readonly number[],
  env: Record<string, string> = {},
): Context {
  return testContext(sql, {
    config: testConfig(env),
    databaseUrl: new Secret(url),
    chains: new Map(chainIds.map((chainId) => [chainId, {}])) as unknown as Context['chains'],
  }).context
}

/** A replica that only searches. */
export function startReplica(context: Context, options: SearchOptions = {}) {
  const worker = runAlone(searchWorker(context, { pollMs: POLL_MS, ...options }))
  return { index: searchIndex(context), state: searchState(context), stop: worker.stop }
}
export type Replica = ReturnType<typeof startReplica>

export const keysOf = (hits: readonly Hit[] | undefined) => hits?.map(({ key }) => key)

/** Loads catalogues on a connection of their own. */
export async function loadCatalogues(
  sql: Sql,
  chainIds: readonly number[],
  model: Model,
  meanwhile = async () => {},
): Promise<Catalogues> {
  const session = await sql.reserve()
  try {
    return await Catalogues.load(session, chainIds, model, { meanwhile, onUnreadable() {} })
  } finally {
    session.release()
  }
}
