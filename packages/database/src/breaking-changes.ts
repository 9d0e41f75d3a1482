/** Statements after which the version before may fail, and what to do instead. */
const BREAKING: readonly [RegExp, string][] = [
  [
    /\bdrop\s+(table|column|schema|view|materialized\s+view|function|type|index|trigger)\b/i,
    'drops something',
  ],
  [/\balter\s+table\b[^;]*\bdrop\s+(?!constraint|not\s+null|default)\w/i, 'drops a column'],
  [/\brename\b/i, 'renames something'],
  [/\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/i, 'changes the type of a column'],
  [/\bset\s+not\s+null\b/i, 'makes a column NOT NULL'],
  [/\btruncate\b/i, 'empties a table'],
]

const ADDED_COLUMN = /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!constraint\b)\w+[^,;]*/gi
const ADDED_CONSTRAINT = /\balter\s+table\b[^;]*\badd\s+(constraint|check|unique|foreign|primary|exclude)\b/i
const CREATED_TABLE = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([\w."]+)/gi
const CREATED_INDEX =
  /\bcreate\s+(unique\s+)?index\s+(if\s+not\s+exists\s+)?(?:(?!on\b)[\w."]+\s+)?on\s+([\w."]+)/gi

/**
 * What in a file of the kind `expand` would break the version before, which goes on reading and writing the tables. A linter for tests: it
 * reads the words of the statements, and cannot see what a function does.
 */
export function breakingChanges(text: string): string[] {
  const sql = text.replaceAll(/--.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const own = new Set([...sql.matchAll(CREATED_TABLE)].map(([, table]) => table))
  const found = BREAKING.filter(([pattern]) => pattern.test(sql)).map(([, what]) => what)
  const columns = sql.match(ADDED_COLUMN) ?? []
  if (columns.some((column) => /\bnot\s+null\b/i.test(column) && !/\b(default|generated)\b/i.test(column))) {
    found.push('adds a column that is NOT NULL and has no default')
  }
  if (ADDED_CONSTRAINT.test(sql)) found.push('adds a constraint to a table that the version before writes')
  for (const [, unique, unlessExists, table] of sql.matchAll(CREATED_INDEX)) {
    if (own.has(table)) continue
    if (unique) found.push(`makes values of ${table} unique`)
    else if (!unlessExists)
      found.push(
        `creates an index on ${table} without IF NOT EXISTS: writers wait, so operators with large tables create it before, CONCURRENTLY`,
      )
  }
  return found
}
