// Finds the tables that source files and database functions write.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Write {
  /** A path below `src`, or the name of a database function. */
  by: string
  verb: string
  /** Undefined: the statement gets it from a value. */
  table: string | undefined
  /** The columns that an UPDATE sets. */
  columns: string[]
}

const VERB = 'INSERT\\s+INTO|UPDATE|DELETE\\s+FROM|TRUNCATE(?:\\s+TABLE)?|MERGE\\s+INTO|COPY'
const STATEMENT = new RegExp(
  `\\b(${VERB})\\s+(?:ONLY\\s+)?(?:"?(chain|market|jobs)"?\\."?(\\w+)"?|(\\$\\{))`,
  'gi',
)
const TRUNCATED = /\bTRUNCATE(?:\s+TABLE)?\s+([\w.,\s]+)/gi
/** A table passed to `machinery/db/rows.ts`. */
const TABLE = /: Table = \{\s*name: '((?:chain|market|jobs)\.\w+)'/g

export function writesIn(by: string, text: string): Write[] {
  const statements = [...text.matchAll(STATEMENT)].map((found) => {
    const [head, verb = '', schema, name, byValue] = found
    return {
      by,
      verb: verb.toUpperCase().replaceAll(/\s+/g, ' '),
      table: byValue ? undefined : `${schema}.${name}`.toLowerCase(),
      columns: /^update$/i.test(verb) ? columnsOf(text.slice(found.index + head.length)) : [],
    }
  })
  // TRUNCATE takes a list.
  const others = [...text.matchAll(TRUNCATED)].flatMap(([, list = '']) =>
    [...list.matchAll(/,\s*((?:chain|market|jobs)\.\w+)/g)].map(([, table]) => ({
      by,
      verb: 'TRUNCATE',
      table,
      columns: [],
    })),
  )
  const rows = [...text.matchAll(TABLE)].map(([, table]) => ({ by, verb: 'INSERT INTO', table, columns: [] }))
  return [...statements, ...others, ...rows]
}

/**
 * Reads `AS p SET a = …, b = …`. A value may contain brackets and subqueries; `*` stands for a column that cannot be
 * parsed.
 */
function columnsOf(text: string): string[] {
  const [set] = /^[\s\w]*?\bSET\s+/i.exec(text) ?? []
  if (set === undefined) return ['*']
  const columns: string[] = []
  let depth = 0
  let assignment = ''
  for (const [piece] of text.slice(set.length).matchAll(/\$\{|\w+|[\s\S]/g)) {
    const isEnd = /^(where|from|returning|`|;)$/i.test(piece)
    if (depth === 0 && (isEnd || piece === ')')) break
    if (depth === 0 && piece === ',') {
      columns.push(assignment)
      assignment = ''
      continue
    }
    if (/^(\(|\[|\{|\$\{)$/.test(piece)) depth += 1
    if (/^[)\]}]$/.test(piece)) depth -= 1
    assignment += piece
  }
  return [...columns, assignment].map((each) => /^\s*(\w+)\s*=/.exec(each)?.[1] ?? '*')
}

/** Only product code: tests and their helpers may write any table. */
export function sourceWrites(src: string): Write[] {
  return globSync('**/*.ts', { cwd: src })
    .filter((file) => !/\.(test|fixture)\.ts$|(^|\/)testing(\/|\.ts$)/.test(file))
    .sort()
    .flatMap((file) => writesIn(file, readFileSync(join(src, file), 'utf8')))
}
