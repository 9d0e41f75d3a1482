import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

export type Report = {
  name: string
  /** Plain keys to plain numbers, unrounded. */
  figures: Record<string, number>
  ratios: Record<string, number>
  /** What is printed, one object per line; the first object's keys are the columns. */
  rows: Record<string, string | number>[]
  /** Parts that failed, with the reason: each gets a line of the table and an entry in the file. */
  failed?: ReadonlyMap<string, string>
}

/** Prints the table and writes `bench/results/<name>.json`. */
export function report({ name, figures, ratios, rows, failed = new Map() }: Report): void {
  const result = {
    name,
    commit: commit(),
    at: new Date().toISOString(),
    machine: machine(),
    figures,
    ratios,
    ...(failed.size > 0 && { failed: Object.fromEntries(failed) }),
  }
  const directory = new URL('../results/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  writeFileSync(new URL(`${name}.json`, directory), `${JSON.stringify(result, null, 2)}\n`)
  console.log(`\n${name} at ${result.commit ?? 'no commit'} on ${result.machine}\n`)
  console.log(table([...rows, ...failedRows(rows, failed)]))
  for (const [part, reason] of failed) console.log(`FAILED: ${part}: ${reason}`)
  console.log(`\nwritten to bench/results/${name}.json`)
}

/** A line of the table for each part that failed. */
export function failedRows(rows: Report['rows'], failed: ReadonlyMap<string, string>): Report['rows'] {
  const [first = 'part', second = 'result'] = Object.keys(rows[0] ?? {})
  return [...failed.keys()].map((part) => ({ [first]: part, [second]: 'FAILED' }))
}

export function table(rows: Report['rows']): string {
  const columns = Object.keys(rows[0] ?? {})
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
        .join('   '),
    )
    .join('\n')
}

/** Null in a copy without git history. */
function commit(): string | null {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return null
  }
}

function machine(): string {
  const [cpu] = cpus()
  return `${cpus().length} × ${cpu?.model.trim() || process.arch}, ${process.platform}/${process.arch}, Node ${process.version}`
}
