// The schema `search`, which discovery in Postgres reads. Everything in it is derived from the market's tables and is
// created again if it is missing.
import type { Sql, Transaction } from '@referrer/database'

/** The server lacks something that discovery in Postgres needs; the message says what to do. */
export class SearchSetupError extends Error {
  override name = 'SearchSetupError'
}

/** Must change with the tables: tables of another layout are dropped and filled again. */
const LAYOUT = 'referrer discovery, layout 2'
/** The first version with iterative index scans, which filters need. */
const LEAST_PGVECTOR = [0, 8] as const
const NOT_ALLOWED = '42501'

const OR_MEMORY = 'or set DISCOVERY_INDEX=memory'

const TABLES = `
  CREATE SCHEMA search;
  COMMENT ON SCHEMA search IS '${LAYOUT}';

  CREATE TABLE search.catalogues (
    chain_id bigint  PRIMARY KEY,
    size     integer NOT NULL DEFAULT 0,
    -- Everything has been written once.
    is_ready boolean NOT NULL DEFAULT false,
    -- What the tables were made with (see standing.ts), and the snapshot up to which changes are in them.
    made_with text,
    snapshot  text
  );

  -- What a search reads of every entry of a list. Only lists are indexed, so that a new rank does not touch the index.
  -- Indexes are built when all rows are there (see keep.ts).
  CREATE SEQUENCE search.slots AS integer;
  CREATE TABLE search.products (
    slot     integer PRIMARY KEY,
    chain_id bigint  NOT NULL,
    rank     float8  NOT NULL,
    -- The price or, if unknown, the lowest possible price.
    cost     float8  NOT NULL,
    -- The numbers of the lists that the product is in (see lists.ts).
    lists    integer[] NOT NULL
  ) WITH (fillfactor = 90);

  -- What is read of candidates, and of products that change.
  CREATE TABLE search.documents (
    slot        integer PRIMARY KEY,
    chain_id    bigint  NOT NULL,
    merchant_id bigint  NOT NULL,
    product_id  bytea   NOT NULL,
    -- Hash of the texts that the columns below were made from.
    text_hash   bytea   NOT NULL,
    -- The numbers of the terms and what each is worth (see uses.ts).
    uses        bytea   NOT NULL,
    -- The numbers of the words for which misspellings are recognised.
    spelt       integer[] NOT NULL,
    UNIQUE (chain_id, merchant_id, product_id)
  );

  CREATE TABLE search.terms (
    chain_id bigint NOT NULL,
    term     text   NOT NULL,
    number   integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (chain_id, term)
  );
  -- How many products are in each list; lists without entries are left out.
  CREATE TABLE search.lengths (
    list    integer PRIMARY KEY,
    entries integer NOT NULL
  ) WITH (fillfactor = 80);
  CREATE TABLE search.words (
    chain_id bigint  NOT NULL,
    word     text    NOT NULL,
    number   integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,
    users    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (chain_id, word)
  ) WITH (fillfactor = 70);

  -- The vectors of a chain by one model are in the table vectors_<id>.
  CREATE TABLE search.models (
    id          integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    chain_id    bigint  NOT NULL,
    embedder_id text    NOT NULL,
    dims        integer NOT NULL,
    is_ready    boolean NOT NULL DEFAULT false,
    UNIQUE (chain_id, embedder_id)
  );`

/** Creates what is missing. Only one process at a time may call it. */
export async function prepareSchema(sql: Sql): Promise<void> {
  await ensureExtension(sql, 'pg_trgm', 'which comes with Postgres, in the package postgresql-contrib')
  await ensureExtension(sql, 'vector', `pgvector ${LEAST_PGVECTOR.join('.')} or newer`)
  const [vector] = await sql<{ version: string }[]>`
    SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`
  if (vector && isOlder(vector.version)) {
    throw new SearchSetupError(
      `DISCOVERY_INDEX=postgres needs pgvector ${LEAST_PGVECTOR.join('.')} or newer, and this database has ${vector.version}: install a newer one on the server and run ALTER EXTENSION vector UPDATE, ${OR_MEMORY}`,
    )
  }
  await sql.begin(async (tx) => {
    const [schema] = await tx<{ layout: string | null }[]>`
      SELECT obj_description(oid, 'pg_namespace') AS layout FROM pg_namespace WHERE nspname = 'search'`
    if (schema?.layout === LAYOUT) return
    if (schema) await dropSchema(tx, schema.layout)
    await tx.unsafe(TABLES)
  })
}

async function dropSchema(tx: Transaction, layout: string | null): Promise<void> {
  if (!layout?.startsWith('referrer discovery')) {
    throw new SearchSetupError(
      `DISCOVERY_INDEX=postgres keeps its tables in the schema search, and this database has one of somebody else: rename that, ${OR_MEMORY}`,
    )
  }
  await tx.unsafe('DROP SCHEMA search CASCADE')
}

async function ensureExtension(sql: Sql, name: string, about: string): Promise<void> {
  const [extension] = await sql<{ is_installed: boolean }[]>`
    SELECT installed_version IS NOT NULL AS is_installed FROM pg_available_extensions WHERE name = ${name}`
  if (!extension) {
    throw new SearchSetupError(
      `DISCOVERY_INDEX=postgres needs the extension ${name} (${about}), and this Postgres server does not have it: install it there, ${OR_MEMORY}`,
    )
  }
  if (extension.is_installed) return
  try {
    await sql`CREATE EXTENSION IF NOT EXISTS ${sql(name)}`
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_ALLOWED) throw error
    throw new SearchSetupError(
      `DISCOVERY_INDEX=postgres needs the extension ${name}, which this role may not create: have an administrator run CREATE EXTENSION ${name} in this database, ${OR_MEMORY}`,
    )
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_PGVECTOR
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}
