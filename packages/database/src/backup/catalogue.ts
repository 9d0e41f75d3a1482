// What there is to back up: the schemas that our migrations create, with all their tables and sequences.

import type { Columns } from '../copy.ts'
import type { Migration } from '../migration-files.ts'
import type { Queryable } from '../sql.ts'

export interface Sequence {
  /** `schema.sequence`, quoted where it must be. */
  name: string
  lastValue: string
  isCalled: boolean
}

const CREATE_SCHEMA = /^\s*create\s+schema\s+(?:if\s+not\s+exists\s+)?(\w+)/gim

/** In the order of their files; the schema of the migrations' own records comes first. */
export function schemasOf(migrations: readonly Migration[]): string[] {
  const created = migrations.flatMap(({ text }) => [...text.matchAll(CREATE_SCHEMA)].map(([, name]) => name))
  return ['migrations', ...new Set(created.filter((name) => name !== undefined))]
}

/** The tables of the schemas, each after those that its foreign keys name. Unlogged ones may be lost at any time: nobody misses them. */
export async function readTables(sql: Queryable, schemas: string[]): Promise<Columns[]> {
  const tables = await sql<{ oid: string; name: string; columns: string[]; needs: string[] }[]>`
    select c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as name,
      array(
        select quote_ident(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(
        select k.confrelid::text from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as needs
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname = any(${schemas})
    order by array_position(${schemas}::text[], n.nspname::text), c.relname`
  const byOid = new Map(tables.map((table) => [table.oid, table]))
  const ordered: Columns[] = []
  const seen = new Set<string>()
  const visit = (oid: string) => {
    const table = byOid.get(oid)
    if (!table || seen.has(oid)) return
    seen.add(oid)
    table.needs.forEach(visit)
    ordered.push({ table: table.name, columns: table.columns })
  }
  for (const { oid } of tables) visit(oid)
  return ordered
}

export async function readSequences(sql: Queryable, schemas: string[]): Promise<Sequence[]> {
  const names = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'S' and n.nspname = any(${schemas}) order by 1`
  const sequences: Sequence[] = []
  for (const { name } of names) {
    const [row] = await sql.unsafe<{ last_value: bigint; is_called: boolean }[]>(
      `select last_value, is_called from ${name}`,
    )
    if (row) sequences.push({ name, lastValue: String(row.last_value), isCalled: row.is_called })
  }
  return sequences
}
