// Words in Postgres: weighted lexemes with a GIN index, any of the words asked for; words that nobody uses are replaced by similar ones.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, startPostgres } from '@referrer/database'
import type { Item, OpenEngine } from './engine.ts'

export const open: OpenEngine = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const server = await startPostgres({ directory: join(directory, 'data') })
  const sql = connect(server.url, { max: 1 })
  await sql.unsafe(`
    CREATE EXTENSION pg_trgm;
    CREATE TABLE items (
      id integer PRIMARY KEY, name text NOT NULL, category text NOT NULL, description text NOT NULL,
      words tsvector NOT NULL GENERATED ALWAYS AS (
        setweight(to_tsvector('english', name), 'A') || setweight(to_tsvector('english', category), 'B') ||
        setweight(to_tsvector('english', description), 'C')) STORED);
    CREATE TABLE lexemes (word text PRIMARY KEY)`)
  const write = (items: readonly Item[]) => sql`
    INSERT INTO items (id, name, category, description)
    SELECT * FROM unnest(${items.map(({ id }) => id)}::integer[], ${items.map(({ name }) => name)}::text[],
      ${items.map(({ category }) => category)}::text[], ${items.map(({ description }) => description)}::text[])
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, category = excluded.category, description = excluded.description`
  const learn = (ids: readonly number[] | null) => sql`
    INSERT INTO lexemes SELECT DISTINCT lexeme FROM items, unnest(words) WHERE ${ids}::integer[] IS NULL OR id = ANY(${ids}::integer[])
    ON CONFLICT DO NOTHING`
  return {
    async add(items) {
      await write(items)
    },
    async built() {
      await sql`CREATE INDEX ON items USING gin (words)`
      await sql`CREATE INDEX ON items (category)`
      await learn(null)
      await sql`CREATE INDEX ON lexemes USING gin (word gin_trgm_ops)`
      await sql`ANALYZE`
    },
    async match(text, limit, category) {
      const rows = await sql<{ id: number }[]>`
        WITH asked AS (
          SELECT string_agg(quote_literal(coalesce(known.word, close.word)), ' | ')::tsquery AS query
          FROM unnest(to_tsvector('english', ${text})) AS wanted
            LEFT JOIN lexemes AS known ON known.word = wanted.lexeme
            LEFT JOIN LATERAL (
              SELECT word FROM lexemes WHERE known.word IS NULL AND word % wanted.lexeme
              ORDER BY similarity(word, wanted.lexeme) DESC, word LIMIT 1) AS close ON true)
        SELECT id FROM items, asked WHERE words @@ query AND (${category ?? null}::text IS NULL OR category = ${category ?? null})
        ORDER BY ts_rank(words, query) DESC, id LIMIT ${limit}`
      return rows.map(({ id }) => id)
    },
    async put(item) {
      await write([item])
      await learn([item.id])
    },
    async remove(id) {
      await sql`DELETE FROM items WHERE id = ${id}`
    },
    async outsideBytes() {
      const [size] = await sql<{ bytes: number }[]>`
        SELECT (pg_total_relation_size('items') + pg_total_relation_size('lexemes'))::float8 AS bytes`
      return size?.bytes ?? 0
    },
    async close() {
      await sql.end()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
