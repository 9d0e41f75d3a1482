import type { Transaction } from '@referrer/database'
import type { Hex } from 'viem'

/** The types of columns. Values of `time` are given as seconds since 1970, those of `bytea` as hex. */
export type ColumnType = 'bigint' | 'integer' | 'numeric' | 'boolean' | 'text' | 'bytea' | 'time'
export type Value = bigint | number | boolean | string | Hex | null
export type Columns = Record<string, ColumnType>

/** A table that rows are written to in batches. */
export interface Table {
  name: string
  key: Columns
  columns: Columns
}

export type Row = Record<string, Value>

/**
 * Sorts what events did to a table into rows that are new and changes of rows that were there before, so that thousands of events
 * become two statements. A change names the columns it sets; a column is never set back to null.
 */
export class Changes {
  readonly created = new Map<string, Row>()
  readonly changed = new Map<string, Row>()

  create(key: Row, rest: Row): void {
    this.created.set(keyOf(key), { ...key, ...rest })
  }

  change(key: Row, rest: Row): void {
    const name = keyOf(key)
    const row = this.created.get(name) ?? this.changed.get(name)
    if (row) Object.assign(row, rest)
    else this.changed.set(name, { ...key, ...rest })
  }
}

const keyOf = (key: Row) => Object.values(key).join('/')

/** Writes new rows and changes; a change of a row that is not there is an error. */
export async function writeChanges(
  tx: Transaction,
  table: Table,
  { created, changed }: Changes,
): Promise<void> {
  await Promise.all([
    insertRows(tx, table, [...created.values()]),
    updateRows(tx, table, [...changed.values()]),
  ])
}

/** Inserts all rows at once; `onConflict` as SQL. */
export async function insertRows(
  tx: Transaction,
  { name, key, columns }: Table,
  rows: Row[],
  onConflict = '',
): Promise<void> {
  if (rows.length === 0) return
  const all = { ...key, ...columns }
  const names = Object.keys(all)
  await tx.unsafe(
    `INSERT INTO ${name} (${names.join(', ')}) SELECT ${selected(all)} FROM ${unnest(all)} ${onConflict}`,
    parameters(all, rows),
    { prepare: true },
  )
}

async function updateRows(tx: Transaction, { name, key, columns }: Table, rows: Row[]): Promise<void> {
  if (rows.length === 0) return
  const set = Object.fromEntries(
    Object.entries(columns).filter(([column]) => rows.some((row) => row[column] !== undefined)),
  )
  const all = { ...key, ...set }
  const assignments = Object.entries(set).map(
    ([column, type]) => `${column} = coalesce(${expression(column, type)}, t.${column})`,
  )
  const match = Object.entries(key).map(([column, type]) => `t.${column} = ${expression(column, type)}`)
  const { count } = await tx.unsafe(
    `UPDATE ${name} AS t SET ${assignments.join(', ')} FROM ${unnest(all)} WHERE ${match.join(' AND ')}`,
    parameters(all, rows),
    { prepare: true },
  )
  if (count !== rows.length)
    throw new Error(
      `an event changes a row of ${name} that no event created: ` +
        "set the chain's startBlock before the first block of its contracts and index it anew",
    )
}

const ARRAY_TYPES: Record<ColumnType, string> = {
  bigint: 'bigint[]',
  integer: 'integer[]',
  numeric: 'numeric[]',
  boolean: 'boolean[]',
  text: 'text[]',
  bytea: 'bytea[]',
  time: 'bigint[]',
}

const unnest = (columns: Columns) =>
  `unnest(${Object.values(columns).map((type, at) => `$${at + 1}::${ARRAY_TYPES[type]}`)}) AS e (${Object.keys(columns)})`

const expression = (column: string, type: ColumnType) =>
  type === 'time' ? `to_timestamp(e.${column})` : `e.${column}`

const selected = (columns: Columns) =>
  Object.entries(columns)
    .map(([column, type]) => expression(column, type))
    .join(', ')

const parameters = (columns: Columns, rows: Row[]) =>
  Object.entries(columns).map(([column, type]) =>
    arrayOf(
      type,
      rows.map((row) => row[column] ?? null),
    ),
  )

/** For a record that exists already and is not final yet: it now belongs to the block that names it again. */
export const learnedAgain = ({ name, key }: Pick<Table, 'name' | 'key'>) =>
  `ON CONFLICT (${Object.keys(key).join(', ')}) DO UPDATE SET learned_in = excluded.learned_in WHERE ${name}.learned_in IS NOT NULL`

/** A column of values as one parameter. A text cannot hold the character zero in Postgres. */
export function arrayOf(type: ColumnType, values: Value[]): (Value | Buffer)[] {
  return values.map((value) => {
    if (typeof value !== 'string') return value
    return type === 'bytea' ? Buffer.from(value.slice(2), 'hex') : value.replaceAll('\0', '')
  })
}
