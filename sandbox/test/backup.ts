// The records of a sandbox that runs, in other databases.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Sql, startPostgres } from '@referrer/database'
import { readConfig, type Service, startService } from '@referrer/service'
import { environmentOf, whenReady } from '../src/program.ts'
import { databaseDirectory } from '../src/state.ts'
import { run, type TestSandbox } from './sandbox.ts'

const REFERRER = fileURLToPath(new URL('../../packages/operator/src/main.ts', import.meta.url))
const SEED = `0x${'5a'.repeat(32)}`

/** Runs the command, and gives what it printed. */
export async function referrer(args: string[], env: Record<string, string>): Promise<string> {
  const { output, ended } = run(REFERRER, env, args)
  const [status] = await ended
  if (status !== 0) throw new Error(`referrer ${args.join(' ')}: ${output.text}`)
  return output.text
}

export interface Places {
  /** For files and embedded servers. */
  directory: string
  /** The server that the sandbox runs on. */
  url(database: string): string
  leave(): Promise<void>
}

export async function openPlaces({ directory: home, state }: TestSandbox): Promise<Places> {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-restored-'))
  // The server's own user comes through it.
  chmodSync(directory, 0o755)
  const port = Number(new URL(state.baseUrl).port)
  // Joins the server that runs there.
  const server = await startPostgres({ directory: databaseDirectory(join(home, 'state.json'), port) })
  return {
    directory,
    url(database) {
      const url = new URL(server.url)
      url.pathname = `/${database}`
      return url.href
    },
    async leave() {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Holds all programs of a sandbox but its Postgres, so that nobody writes meanwhile. */
export async function whileHeld<T>({ child }: TestSandbox, work: () => Promise<T>): Promise<T> {
  child.kill('SIGSTOP')
  try {
    return await work()
  } finally {
    child.kill('SIGCONT')
  }
}

/** All rows of all tables, sorted. */
export async function rowsAt(url: string): Promise<Map<string, string[]>> {
  const sql = connect(url, { max: 1, name: 'test' })
  try {
    return await rowsOf(sql)
  } finally {
    await sql.end()
  }
}

async function rowsOf(sql: Sql): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'public') ORDER BY 1`
  const all = new Map<string, string[]>()
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${name} AS t ORDER BY 1`)
    all.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return all
}

/** A service like the sandbox's own, that decides and publishes nothing. */
export async function serveFrom(databaseUrl: string, { state }: TestSandbox): Promise<Service> {
  const world = { ...state, logLevel: 'silent', isEmbedding: false }
  const config = readConfig({
    ...environmentOf(world, { port: 0, databaseUrl }),
    PUBLIC_URL: state.baseUrl,
    FACILITATOR_URL: state.facilitatorUrl,
    ATTESTATION_KEYS: JSON.stringify({ [state.chainId]: [SEED] }),
    EMBEDDER: 'off',
  })
  return whenReady('service', await startService(config))
}
