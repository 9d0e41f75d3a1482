import type { Contents, OnProgress, RestoreOptions } from '@referrer/database'

const EVERY_MS = 10_000

const MB = 1_000_000
export const megabytes = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`
export const counted = (rows: number) => rows.toLocaleString('en-US')

/** Says every ten seconds how far a step is. */
export function createProgress(print: (text: string) => void, step: string): OnProgress {
  let saidAt = performance.now()
  let before = { rows: 0, bytes: 0 }
  let table = ''
  let here = { rows: 0, bytes: 0 }
  return (name, done) => {
    if (name !== table) before = { rows: before.rows + here.rows, bytes: before.bytes + here.bytes }
    table = name
    here = { ...done }
    if (performance.now() - saidAt < EVERY_MS) return
    saidAt = performance.now()
    const [rows, bytes] = [before.rows + here.rows, before.bytes + here.bytes]
    print(`${step}: ${counted(rows)} rows, ${megabytes(bytes)}, now ${table}\n`)
  }
}

const STEPS = {
  checking: 'checking the file',
  loading: 'loading',
  comparing: 'reading all tables back',
  migrating: 'all tables are the same; bringing them up to date',
}

/** Says each step of a restoration as it begins, and how far it is. */
export function createSteps(
  print: (text: string) => void,
): Required<Pick<RestoreOptions, 'onStep' | 'onProgress'>> {
  let onProgress: OnProgress = () => {}
  return {
    onStep(step) {
      print(`${STEPS[step]}\n`)
      onProgress = createProgress(print, STEPS[step])
    },
    onProgress: (table, done) => onProgress(table, done),
  }
}

/** `94 tables, 12,345 rows, 6.7 MB of rows`. */
export function summary({ manifest: { tables } }: Contents): string {
  const sum = (pick: (table: (typeof tables)[number]) => number) =>
    tables.reduce((all, one) => all + pick(one), 0)
  return `${tables.length} tables, ${counted(sum(({ rows }) => rows))} rows, ${megabytes(sum(({ bytes }) => bytes))} of rows`
}
