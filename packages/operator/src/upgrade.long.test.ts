// Two versions of the service side by side on one database, as processes, with callers behind a balancer.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { deployMarket, type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { type MigrationSet, migrate, planMigrations, readMigrations } from '@referrer/database'
import { breakingChanges, bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { migrations as facilitatorMigrations } from '@referrer/facilitator'
import { migrations, serviceMigrations } from '@referrer/service'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, startProcess } from './process.fixture.ts'

const EXPAND =
  '-- expand: a note beside each review\nALTER TABLE market.reviews ADD COLUMN upgrade_note text;\n'
const CONTRACT = '-- contract: no note any more\nALTER TABLE market.reviews DROP COLUMN upgrade_note;\n'
const PUBLIC_URL = 'http://market.test'
/** Requests that a process answers before the upgrade goes on. */
const SOME = 8

const directory = mkdtempSync(join(tmpdir(), 'referrer-upgrade-'))
const OLD = fileURLToPath(serviceMigrations.directory)

/** The migrations of a version that has further files. */
async function versionWith(name: string, ...texts: string[]): Promise<string> {
  const made = join(directory, name)
  cpSync(OLD, made, { recursive: true })
  const { length } = await readMigrations(serviceMigrations)
  for (const [index, text] of texts.entries()) {
    writeFileSync(join(made, `${String(length + index + 1).padStart(4, '0')}_upgrade.sql`), text)
  }
  return made
}

const setsOf = (path: string): MigrationSet[] => [
  ...migrations.filter((set) => set !== serviceMigrations),
  { ...serviceMigrations, directory: pathToFileURL(path) },
]

let chain: LocalChain
let database: TestDatabase
let env: Record<string, string>
const children: Child[] = []

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, port: 0 })
  const { addresses } = await deployMarket(chain.client)
  database = await freshDatabase(setsOf(OLD))
  env = {
    DATABASE_URL: database.url,
    PORT: '0',
    PUBLIC_URL,
    EMBEDDER: 'off',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    CHAINS: JSON.stringify([
      { chainId: 31_337, rpcUrls: [chain.rpcUrl], contracts: addresses, startBlock: 0, pollIntervalMs: 100 },
    ]),
  }
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map(({ exited }) => exited))
  await chain?.close()
  await database?.drop()
  rmSync(directory, { recursive: true })
})

async function start(migrations: string, given: Record<string, string> = {}): Promise<Child> {
  const program = await bundled(new URL('version.fixture.ts', import.meta.url))
  const child = startProcess([program], { ...env, ...given, SERVICE_MIGRATIONS: migrations })
  children.push(child)
  return child
}

const urlOf = async (child: Child) => String((await child.says(/^listening on (\S+)$/m))[1])

/** Callers who take turns with the processes that are in `targets`. What fails is kept, and counted is who answered. */
function callers(targets: string[], count: number) {
  const failures: string[] = []
  const answered = new Map<string, number>()
  const stop = new AbortController()
  let turn = 0
  async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
    const target = targets[turn++ % targets.length] ?? ''
    try {
      const response = await fetch(target + path, {
        method: body ? 'POST' : 'GET',
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const answer = await response.json()
      if (!response.ok) failures.push(`${path}: ${response.status} ${JSON.stringify(answer)}`)
      answered.set(target, (answered.get(target) ?? 0) + 1)
      return answer
    } catch (error) {
      failures.push(`${path}: ${(error as Error).cause ?? error}`)
      return {}
    }
  }
  /** Reads, and signs in: a nonce of one process, used at the next, is written to the database. */
  async function call(): Promise<void> {
    const account = privateKeyToAccount(generatePrivateKey())
    while (!stop.signal.aborted) {
      await ask('/v1/stats')
      await ask('/.well-known/referrer-agent')
      const { nonce } = await ask('/v1/auth/nonce')
      const message = createSiweMessage({
        domain: new URL(PUBLIC_URL).host,
        uri: PUBLIC_URL,
        version: '1',
        chainId: 31_337,
        address: account.address,
        nonce: String(nonce),
        issuedAt: new Date(),
      })
      await ask('/v1/auth/session', { message, signature: await account.signMessage({ message }) })
    }
  }
  const calling = Array.from({ length: count }, call)
  return {
    failures,
    /** Waits until a process has answered so many more requests. */
    async hasAnswered(target: string, more: number) {
      const before = answered.get(target) ?? 0
      await expect
        .poll(() => (answered.get(target) ?? 0) - before, { timeout: 30_000 })
        .toBeGreaterThanOrEqual(more)
    },
    async end() {
      stop.abort()
      await Promise.all(calling)
    },
  }
}

describe('two versions side by side', () => {
  it('answer every request while an expanding upgrade runs, and while it is taken back', async () => {
    const expanded = await versionWith('expanded', EXPAND)
    // The new version waits for the job that migrates, while the old one answers.
    const [old, young] = [await start(OLD), await start(expanded, { MIGRATE: 'off' })]
    const [oldUrl] = await Promise.all([urlOf(old), young.says('waiting for the database to be migrated')])
    const targets = [oldUrl]
    const { failures, hasAnswered, end } = callers(targets, 2)
    await hasAnswered(oldUrl, SOME)
    const { pending } = await planMigrations(database.sql, setsOf(expanded))
    expect(pending.map(({ kind, about }) => [kind, about])).toEqual([['expand', 'a note beside each review']])
    await migrate(database.sql, setsOf(expanded))
    await hasAnswered(oldUrl, SOME)

    /** Both answer for a while; then the balancer leaves one out, and it is told to stop. */
    const replace = async (leaving: Child, url: string) => {
      targets.push(url)
      for (const target of targets) await hasAnswered(target, SOME)
      targets.shift()
      leaving.kill('SIGTERM')
      expect(await leaving.exited).toMatchObject({ code: 0, err: '' })
      await hasAnswered(url, SOME)
    }
    const youngUrl = await urlOf(young)
    await replace(old, youngUrl)

    // Downgrade: the old version starts on the database of the new one, and says so.
    const back = await start(OLD)
    await back.says('a newer version has migrated the database')
    await replace(young, await urlOf(back))
    await end()
    expect(failures).toEqual([])
    const [sessions] = await database.sql`SELECT count(*)::int AS count FROM market.sessions`
    expect(sessions?.count).toBeGreaterThan(8)
  })

  it('are not possible after a contracting upgrade: the old one does not start', async () => {
    await migrate(database.sql, setsOf(await versionWith('contracted', EXPAND, CONTRACT)))
    expect(await (await start(OLD)).exited).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^This database was migrated by a newer version of the program .*: upgrade/),
    })
  })
})

/** The last files from before the rule. */
const BEFORE_THE_RULE = new Map([
  ['chain-engine', 5],
  ['service', 26],
  ['facilitator', 1],
])

describe('migrations', async () => {
  const sets = new Map([...migrations, ...facilitatorMigrations].map((set) => [set.name, set]))
  const all = (await Promise.all([...sets.values()].map(readMigrations))).flat()
  const ruled = all.filter(({ set, number }) => number > (BEFORE_THE_RULE.get(set) ?? 0))

  it('say what they are in their first line, and do not break the version before if they expand', () => {
    const wrong = ruled.flatMap(({ name, kind, about, text }) => [
      ...(about ? [] : [`${name}: its first line has to be "-- expand: …" or "-- contract: …"`]),
      ...(kind === 'expand' ? breakingChanges(text).map((what) => `${name}: ${what}`) : []),
    ])
    expect(wrong).toEqual([])
  })

  it('are all in the table of the document on upgrades', () => {
    const document = readFileSync(new URL('../../../docs/upgrading.md', import.meta.url), 'utf8')
    const rows = [...document.matchAll(/^\| `([\w-]+\/\d{4}_\w+\.sql)` +\| (\w+) +\| (.*?) +\|$/gm)]
    expect(rows.map(([, name, kind, about]) => ({ name, kind, about }))).toEqual(
      ruled.map(({ name, kind, about }) => ({ name, kind, about })),
    )
  })
})
