import { connect, type Sql } from '@referrer/database'
import pg from 'pg'
import postgres from 'postgres'

export const CONTENDERS = ['ours', 'postgres.js', 'pg'] as const
export type ContenderName = (typeof CONTENDERS)[number]

export const CASES = ['one row', '100 rows', 'insert of 100 rows', 'transaction of 5'] as const
export type Case = (typeof CASES)[number]

/** Statements that one call of a case sends, begin and commit included. */
export const STATEMENTS: Record<Case, number> = {
  'one row': 1,
  '100 rows': 1,
  'insert of 100 rows': 1,
  'transaction of 5': 7,
}

export const CONNECTIONS = 10
export const ROWS = 10_000
const PAGE = 100

export type Contender = Record<Case, (id: number) => Promise<unknown>> & { end(): Promise<void> }

export const schema = `
  CREATE TABLE items (id int8 PRIMARY KEY, owner bytea NOT NULL, title text NOT NULL, price numeric(78) NOT NULL, at timestamptz NOT NULL);
  INSERT INTO items SELECT n, sha256(n::text::bytea), repeat('title ', 10), n::numeric * 1e20, now() FROM generate_series(1, ${ROWS}) AS n;
  CREATE UNLOGGED TABLE events (id int8 NOT NULL, payload bytea NOT NULL, kind text NOT NULL, amount numeric(78) NOT NULL);
  CREATE UNLOGGED TABLE counters (id int8 PRIMARY KEY, value int8 NOT NULL);
  INSERT INTO counters SELECT n, 0 FROM generate_series(1, ${ROWS}) AS n;
  ANALYZE;`

/** What is inserted, made once: the clock is for the libraries. */
const ids = Array.from({ length: PAGE }, (_, at) => BigInt(at))
const payloads = ids.map((id) => Buffer.alloc(32, Number(id)))
const kinds = ids.map((id) => `kind ${id}`)
const amounts = ids.map((id) => id * 10n ** 20n)

export function open(name: ContenderName, url: string): Contender {
  if (name === 'pg') return openPg(url)
  if (name === 'ours') return openTagged(connect(url, { max: CONNECTIONS }), (values) => values)
  const sql = plain(url)
  // By itself it sends an array of bigints as one bigint.
  return openTagged(sql, (values, type) => sql.typed(values, type))
}

/** With the same meaning of whole numbers as ours: a bigint in both directions. */
function plain(url: string): Sql {
  const whole = (oid: number) => ({ to: oid, from: [oid], serialize: String, parse: BigInt })
  const { socket, user, database } = partsOf(url)
  const sql = postgres({
    host: socket,
    user,
    database,
    max: CONNECTIONS,
    types: { bigint: whole(20), numeric: whole(1700) },
  })
  return sql as unknown as Sql
}

function openTagged(sql: Sql, array: (values: unknown[], type: number) => unknown): Contender {
  const arrays = () =>
    [array(ids, 1016), array(payloads, 1001), array(kinds, 1009), array(amounts, 1231)] as [
      never,
      never,
      never,
      never,
    ]
  return {
    'one row': (id) => sql`SELECT id, owner, title, price, at FROM items WHERE id = ${id}`,
    '100 rows': (id) =>
      sql`SELECT id, owner, title, price, at FROM items WHERE id > ${id} ORDER BY id LIMIT ${PAGE}`,
    'insert of 100 rows'() {
      const [id, payload, kind, amount] = arrays()
      return sql`
        INSERT INTO events (id, payload, kind, amount)
        SELECT * FROM unnest(${id}::int8[], ${payload}::bytea[], ${kind}::text[], ${amount}::numeric[])`
    },
    'transaction of 5': (id) =>
      sql.begin(async (tx) => {
        await tx`SELECT value FROM counters WHERE id = ${id} FOR UPDATE`
        await tx`UPDATE counters SET value = value + 1 WHERE id = ${id}`
        await tx`INSERT INTO events VALUES (${id}, ${payloads[0] as Buffer}, ${'kind'}, ${1n})`
        await tx`SELECT id, owner, title, price, at FROM items WHERE id = ${id}`
        await tx`SELECT value FROM counters WHERE id = ${id}`
      }),
    end: () => sql.end({ timeout: 1 }),
  }
}

/** With names, so that its statements are prepared once, as those of the others are. */
function openPg(url: string): Contender {
  const types = new pg.TypeOverrides()
  types.setTypeParser(20, BigInt)
  types.setTypeParser(1700, BigInt)
  const { socket, user, database } = partsOf(url)
  const pool = new pg.Pool({ host: socket, user, database, max: CONNECTIONS, types })
  const item = 'SELECT id, owner, title, price, at FROM items'
  return {
    'one row': (id) => pool.query({ name: 'item', text: `${item} WHERE id = $1`, values: [id] }),
    '100 rows': (id) =>
      pool.query({ name: 'page', text: `${item} WHERE id > $1 ORDER BY id LIMIT $2`, values: [id, PAGE] }),
    'insert of 100 rows': () =>
      pool.query({
        name: 'insert',
        text: `INSERT INTO events (id, payload, kind, amount)
          SELECT * FROM unnest($1::int8[], $2::bytea[], $3::text[], $4::numeric[])`,
        values: [ids, payloads, kinds, amounts],
      }),
    async 'transaction of 5'(id) {
      const client = await pool.connect()
      const run = (name: string, text: string, values: unknown[] = [id]) =>
        client.query({ name, text, values })
      try {
        await client.query('BEGIN')
        await run('lock', 'SELECT value FROM counters WHERE id = $1 FOR UPDATE')
        await run('update', 'UPDATE counters SET value = value + 1 WHERE id = $1')
        await run('event', 'INSERT INTO events VALUES ($1, $2, $3, $4)', [id, payloads[0], 'kind', 1n])
        await run('item', `${item} WHERE id = $1`)
        await run('counter', 'SELECT value FROM counters WHERE id = $1')
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    },
    end: () => pool.end(),
  }
}

/** The embedded server's URL has its socket's directory as the host. */
function partsOf(url: string): { socket: string; user: string; database: string } {
  const { hostname, username, pathname } = new URL(url)
  return { socket: decodeURIComponent(hostname), user: username, database: pathname.slice(1) }
}
