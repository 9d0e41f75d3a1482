// Whether the databases can be used, and keep what they have accepted.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, type MigrationSet, openDatabase, planMigrations, type Sql } from '@referrer/database'
import { migrations as facilitatorMigrations } from '@referrer/facilitator'
import type { CommonConfig } from '@referrer/process'
import { migrations as serviceMigrations } from '@referrer/service'
import { type Examination, fine, warning, wrong } from './examination.ts'
import type { Subject } from './subject.ts'

interface Facts {
  version: string
  encoding: string
  is_recovering: boolean
  fsync: string
  synchronous_commit: string
  full_page_writes: string
  connections: number
  may_create: boolean
  closed_schemas: string[]
}

/** What a check of the clock compares with ours. */
export interface TimeSource {
  name: string
  /** Milliseconds that it is ahead of our clock. */
  aheadMs: number
}

interface Purpose {
  group: string
  config: Pick<CommonConfig, 'databaseUrl' | 'dataDir'>
  sets: MigrationSet[]
  /** How many connections a process opens. */
  connections: number
}

/** Of the pool; indexers, senders and the search thread have connections of their own. */
const POOL = 20
const PER_CHAIN = 4
const OPEN_WITHIN_MS = 12_000

/** Returns the clocks of the databases. */
export function checkDatabases(
  examination: Examination,
  { service, facilitator, chains }: Subject,
  clock: () => number,
): Promise<TimeSource>[] {
  const connections = POOL + PER_CHAIN * chains.length
  const served: Promise<Sql>[] = []
  if (service) {
    const group = 'database'
    const sql = checkDatabase(examination, { group, config: service, sets: serviceMigrations, connections })
    if (sql && service.discoveryIndex === 'postgres') checkExtensions(examination, group, sql)
    if (sql) served.push(sql)
  }
  if (facilitator) {
    const group = 'database of the facilitator'
    const sets = facilitatorMigrations
    const sql = checkDatabase(examination, { group, config: facilitator, sets, connections })
    if (sql) served.push(sql)
  }
  return served.map((sql) => timeOf(sql, clock))
}

function checkDatabase(examination: Examination, purpose: Purpose): Promise<Sql> | undefined {
  const { group, config, sets } = purpose
  const { databaseUrl, dataDir } = config
  // `serve` makes the embedded server at its first start: the doctor makes nothing.
  if (!databaseUrl && !existsSync(join(dataDir, 'data'))) {
    const run = () => fine(`the embedded server will be made in ${dataDir} at the first start`)
    examination.check({ group, name: 'answers', advice: 'start it', run })
    return undefined
  }
  const sql = examination.check<Sql>({
    group,
    name: 'answers',
    advice: 'start Postgres, or correct DATABASE_URL',
    withinMs: OPEN_WITHIN_MS,
    async run() {
      const options = { max: 2, name: 'referrer doctor' }
      const opening = openDatabase(
        databaseUrl ? { ...options, url: databaseUrl.reveal() } : { ...options, directory: dataDir },
      )
      closeAtEnd(examination, opening)
      const database = await opening
      return fine(databaseUrl ? 'yes' : `yes, the embedded server in ${dataDir}`, database.sql)
    },
  })
  const facts = examination.check<Facts, Sql>({
    group,
    name: 'version',
    needs: sql,
    advice: 'use PostgreSQL 15 or newer',
    async run(found) {
      const read = await readFacts(found)
      return fine(`PostgreSQL ${read.version}`, read)
    },
  })
  checkFacts(examination, purpose, facts)
  const rights = checkRights(examination, group, facts)
  checkMigrations(examination, group, Promise.all([sql, rights]), sets)
  return sql
}

/** One that opens too late is closed as soon as it is open, and nobody waits for that. */
function closeAtEnd(examination: Examination, opening: Promise<Database>): void {
  let opened: Database | undefined
  let isOver = false
  examination.atEnd(async () => {
    isOver = true
    await opened?.close()
  })
  opening.then(
    async (database) => {
      opened = database
      if (isOver) await database.close()
    },
    () => {},
  )
}

function checkFacts(examination: Examination, { group, connections }: Purpose, needs: Promise<Facts>): void {
  examination.check({
    group,
    name: 'encoding',
    needs,
    advice: 'make a database with ENCODING UTF8',
    run: ({ encoding }) =>
      encoding === 'UTF8'
        ? fine('UTF8')
        : wrong(
            `${encoding}: reviews in most languages would be refused or broken`,
            "make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL",
          ),
  })
  examination.check({
    group,
    name: 'primary',
    needs,
    advice: 'name the primary in DATABASE_URL',
    run: ({ is_recovering }) =>
      is_recovering
        ? wrong('it is a standby in recovery and takes no writes', 'name the primary in DATABASE_URL')
        : fine('takes writes'),
  })
  examination.check({
    group,
    name: 'durability',
    needs,
    advice: 'switch fsync, full_page_writes and synchronous_commit on',
    run(facts) {
      const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter(
        (name) => facts[name] === 'off',
      )
      return off.length === 0
        ? fine('what is acknowledged is on disk')
        : wrong(
            `${off.join(', ')} is off: a crash loses decisions and transactions that were acknowledged`,
            `set ${off.map((name) => `${name} = on`).join(', ')} for the server, this database and this user`,
          )
    },
  })
  examination.check({
    group,
    name: 'connections',
    needs,
    advice: 'raise max_connections',
    run({ connections: allowed }) {
      if (allowed < connections) {
        return wrong(
          `${allowed} connections are allowed, and one process uses up to ${connections}`,
          'raise max_connections, or the CONNECTION LIMIT of the database or the user',
        )
      }
      return allowed < 2 * connections
        ? warning(
            `${allowed} connections are allowed, enough for one process (${connections}) and not for two`,
            'raise max_connections before you run several, or update without a stop',
          )
        : fine(`${allowed} allowed, ${connections} for each process`)
    },
  })
}

function checkRights(examination: Examination, group: string, needs: Promise<Facts>): Promise<undefined> {
  return examination.check({
    group,
    name: 'rights',
    needs,
    advice: 'grant them',
    run({ may_create, closed_schemas }) {
      if (!may_create) {
        return wrong(
          'the user may not create schemas in this database, so that it cannot be migrated',
          'GRANT CREATE ON DATABASE to the user of DATABASE_URL, or make that user the owner',
        )
      }
      return closed_schemas.length > 0
        ? wrong(
            `the schemas ${closed_schemas.join(', ')} belong to another user`,
            'use the user who made them, or ALTER SCHEMA … OWNER TO the user of DATABASE_URL',
          )
        : fine('may create schemas and tables')
    },
  })
}

function checkMigrations(
  examination: Examination,
  group: string,
  needs: Promise<[Sql, undefined]>,
  sets: MigrationSet[],
): void {
  examination.check({
    group,
    name: 'migrations',
    needs,
    advice: 'look at the table migrations.applied',
    async run([sql]) {
      const { pending, newer } = await planMigrations(sql, sets)
      if (newer.length > 0 && pending.length === 0)
        return fine(`ahead by ${newer.length}, which this version can work with`)
      return pending.length === 0
        ? fine('up to date')
        : warning(
            `${pending.length} are to be applied, ${pending[0]?.name} first`,
            'run referrer migrate; a process that starts does it too',
          )
    },
  })
}

function checkExtensions(examination: Examination, group: string, needs: Promise<Sql>): void {
  examination.check({
    group,
    name: 'extensions',
    needs,
    advice: 'install pgvector, or set DISCOVERY_INDEX=memory',
    async run(sql) {
      const found = await sql<{ name: string }[]>`
        select name from pg_available_extensions where name in ('vector', 'pg_trgm')`
      const missing = ['vector', 'pg_trgm'].filter((name) => found.every((each) => each.name !== name))
      return missing.length === 0
        ? fine('vector and pg_trgm')
        : wrong(
            `DISCOVERY_INDEX=postgres needs ${missing.join(' and ')}, which this server does not have`,
            'install pgvector and postgresql-contrib there, or set DISCOVERY_INDEX=memory',
          )
    },
  })
}

async function readFacts(sql: Sql): Promise<Facts> {
  const [facts] = await sql<Facts[]>`
    select current_setting('server_version') as version,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as is_recovering,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes,
      -- -1 means no limit
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
      ) as connections,
      has_database_privilege(current_database(), 'CREATE') as may_create,
      array(
        select nspname::text from pg_namespace
        where nspname in ('chain', 'market', 'sender', 'jobs', 'migrations') and not has_schema_privilege(oid, 'CREATE')
      ) as closed_schemas`
  if (!facts) throw new Error('the database answered without a row')
  return facts
}

async function timeOf(opened: Promise<Sql>, clock: () => number): Promise<TimeSource> {
  const sql = await opened
  const [row] = await sql<{ now: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`
  return { name: 'the database', aheadMs: Number(row?.now) - clock() }
}
