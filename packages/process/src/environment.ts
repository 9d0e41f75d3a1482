// A program declares its environment variables in a table. The table parses the values, reports the problems and prints the `--help` text.
import { readFileSync } from 'node:fs'

export type Env = Readonly<Record<string, string | undefined>>

/** A parser of a variable's text; `read` returns undefined when the text is not valid. */
export interface Reader<T> {
  expected: string
  read(text: string): T | undefined
}

export interface Variable<T> {
  about: string
  /** Default text for a variable that is not set. */
  fallback: string | undefined
  read(text: string | undefined): { value: T } | { problem: string }
}

export type Table = Readonly<Record<string, Variable<unknown>>>

export type Values<T extends Table> = {
  [Name in keyof T]: T[Name] extends Variable<infer Value> ? Value : never
}

/** Has one line for each bad variable, and never shows a value, which may be a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

export const optional = <T>(reader: Reader<T>, about: string): Variable<T | undefined> => ({
  about,
  fallback: undefined,
  read: (text) => (text === undefined ? { value: undefined } : readWith(reader, text)),
})

export const required = <T>(reader: Reader<T>, about: string): Variable<T> => ({
  about,
  fallback: undefined,
  read: (text) =>
    text === undefined ? { problem: `not set; expected ${reader.expected}` } : readWith(reader, text),
})

export const withDefault = <T>(reader: Reader<T>, about: string, fallback: string): Variable<T> => ({
  about,
  fallback,
  read: (text = fallback) => readWith(reader, text),
})

function readWith<T>({ expected, read }: Reader<T>, text: string): { value: T } | { problem: string } {
  const value = read(text)
  return value === undefined ? { problem: `expected ${expected}` } : { value }
}

/** The trimmed text of a variable. An empty variable counts as not set, because shells and compose files leave unset ones empty. */
export const textOf = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined

/**
 * The text of a variable, or of the file that `<NAME>_FILE` names, as Docker and Kubernetes give secrets. What is wrong is added to `problems`.
 */
export function readText(env: Env, name: string, problems: string[]): string | undefined {
  const text = textOf(env, name)
  const file = textOf(env, `${name}_FILE`)
  if (file === undefined) return text
  if (text !== undefined) {
    problems.push(`${name}_FILE: set either this or ${name}, not both`)
    return undefined
  }
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    problems.push(`${name}_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
}

/** Parses all variables. `values` is undefined when one is bad; the problems are in the order of the table. */
export function readEnvironment<T extends Table>(
  table: T,
  env: Env,
): { values: Values<T> | undefined; problems: string[] } {
  const values: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, variable] of Object.entries(table)) {
    // CHAINS_FILE is a variable of its own.
    const before = problems.length
    const text = `${name}_FILE` in table ? textOf(env, name) : readText(env, name, problems)
    if (problems.length > before) continue
    const result = variable.read(text)
    if ('problem' in result) problems.push(`${name}: ${result.problem}`)
    else values[name] = result.value
  }
  return { values: problems.length === 0 ? (values as Values<T>) : undefined, problems }
}

/** The `--help` text: each variable with its purpose and default. */
export function describeVariables(table: Table): string {
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  return Object.entries(table)
    .map(([name, { about, fallback }]) => {
      const otherwise = fallback === undefined ? '' : ` (default ${fallback})`
      return `  ${name.padEnd(width)}  ${about}${otherwise}`
    })
    .join('\n')
}
