// A primary with its standby and replicas, each of which can be killed; the standby can be promoted.
import { chown, copyFile, lchown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseUrl, hostsUrl } from './address.ts'
import { connect } from './connect.ts'
import { codeOf } from './errors.ts'
import { type Home, openHome } from './home.ts'
import { type KillableServer, startServer, temporaryPlace } from './killable-postgres.ts'
import type { Sql } from './sql.ts'

export interface ReplicatedPostgres {
  /** Names the primary and the standby, like a DATABASE_URL for fail-over; they keep their places when they change roles. */
  url: string
  /** The same for another database of the cluster. */
  urlOf(database: string): string
  primary(): ReplicatedServer
  standby(): ReplicatedServer
  /** The asynchronous replicas, which follow the first primary until `follow` is called. */
  replicas: readonly ReplicatedServer[]
  /** Makes the standby the primary. The former one should be dead; nobody ends it here. */
  promote(): Promise<void>
  /** Makes the former primary, dead or alive, the synchronous standby of the new one, from a fresh copy. */
  reseed(): Promise<void>
  /** Makes an asynchronous replica follow the primary of now. */
  follow(replica: ReplicatedServer): Promise<void>
  remove(): Promise<void>
}

export interface ReplicatedServer extends KillableServer {
  home: string
}

export interface ReplicatedOptions {
  /** Number of asynchronous replicas besides the synchronous standby. */
  replicas?: number
  /** Settings of all servers. */
  settings?: Record<string, string>
}

/** The `application_name` by which a primary knows its synchronous standby. */
const SYNCHRONOUS = 'synchronous'
/** A killed process loses nothing that the machine has taken; only a power cut needs fsync. */
const SETTINGS = { fsync: 'off', wal_keep_size: '512MB', wal_retrieve_retry_interval: '100ms' }

export async function startReplicatedPostgres({
  replicas: count = 0,
  settings: given = {},
}: ReplicatedOptions = {}): Promise<ReplicatedPostgres> {
  const directory = temporaryPlace()
  const settings = { ...SETTINGS, ...given }
  const start = async (name: string): Promise<ReplicatedServer> => {
    const home = join(directory, name)
    return Object.assign(await startServer(home, settings), { home })
  }
  const copy = async (from: ReplicatedServer, name: string, applicationName: string) => {
    await seed(from, join(directory, name), applicationName)
    return start(name)
  }

  let primary = await start('a')
  let standby = await copy(primary, 'b', SYNCHRONOUS)
  await waitForStandby(primary)
  const replicas: ReplicatedServer[] = []
  for (let number = 1; number <= count; number += 1) {
    replicas.push(await copy(primary, `replica-${number}`, 'replica'))
  }
  const places = [primary.url, standby.url]
  return {
    url: hostsUrl(places),
    urlOf: (database) => databaseUrl(hostsUrl(places), database),
    primary: () => primary,
    standby: () => standby,
    replicas,
    async promote() {
      await asAdmin(standby, (sql) => sql`select pg_promote()`)
      ;[primary, standby] = [standby, primary]
    },
    async reseed() {
      await standby.kill()
      await seed(primary, standby.home, SYNCHRONOUS)
      await standby.start()
      await waitForStandby(primary)
    },
    async follow(replica) {
      await replica.kill()
      await seed(primary, replica.home, 'replica')
      await replica.start()
    },
    async remove() {
      for (const server of [primary, standby, ...replicas]) await server.kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** From now on a commit is acknowledged only when the standby has it, too. */
async function waitForStandby(primary: ReplicatedServer): Promise<void> {
  await asAdmin(primary, async (sql) => {
    await sql.unsafe(`alter system set synchronous_standby_names = '${SYNCHRONOUS}'`)
    await sql`select pg_reload_conf()`
    const isThere = () => sql`select from pg_stat_replication where sync_state = 'sync'`
    while ((await isThere()).length === 0) await sleep(20)
  })
}

async function asAdmin<T>({ url }: ReplicatedServer, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { max: 1, name: 'referrer tests' })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** A copy of a running server that will follow it: what pg_basebackup does, which the embedded build leaves out. */
async function seed(from: ReplicatedServer, target: string, applicationName: string): Promise<void> {
  const [source, home] = [await openHome(from.home), await openHome(target)]
  await rm(home.data, { recursive: true, force: true })
  const label = await asAdmin(from, async (sql) => {
    const session = await sql.reserve()
    await session`select pg_backup_start('seed', fast => true)`
    await copyTree(source.data, home.data, home.runner)
    const [row] = await session<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`
    session.release()
    return row?.labelfile ?? ''
  })
  const connection = `host=${source.socketDirectory} user=${new URL(from.url).username} application_name=${applicationName}`
  const files = {
    backup_label: label,
    'standby.signal': '',
    // A standby that is promoted has no standby of its own yet, and would wait for it for ever.
    'postgresql.auto.conf': `primary_conninfo = '${connection}'\nsynchronous_standby_names = ''\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(home.data, name)
    await writeFile(path, text, { mode: 0o600 })
    if (home.runner) await chown(path, home.runner.uid, home.runner.gid)
  }
}

/** The log is streamed, and the lock belongs to the running server. */
const LEFT_OUT = /^(pg_wal\/.+|pg_replslot\/.+|postmaster\.(pid|opts))$/

async function copyTree(source: string, target: string, runner: Home['runner'], below = ''): Promise<void> {
  await mkdir(join(target, below), { mode: 0o700 })
  if (runner) await lchown(join(target, below), runner.uid, runner.gid)
  for (const entry of await readdir(join(source, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (LEFT_OUT.test(path)) continue
    if (entry.isDirectory()) await copyTree(source, target, runner, path)
    else await copyOne(join(source, path), join(target, path), runner)
  }
}

/** The running server removes files while they are copied; its log makes up for that. */
async function copyOne(source: string, target: string, runner: Home['runner']): Promise<void> {
  try {
    await copyFile(source, target)
    if (runner) await chown(target, runner.uid, runner.gid)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
