// Lathe: what programs need.
import { createHash } from 'node:crypto'
import { computed } from '../good.ts'
import { RequestError } from '../request-error.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const URL_NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')
const CRON_FIELDS = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 6],
] as const

export const CODE = [
  computed(
    {
      path: '/lathe/hash',
      name: 'Hashes',
      description: 'The SHA-256, SHA-512 and SHA3-256 of a text, in hex and base64.',
      category: 'code',
      price: '0.01',
      commissionBps: 1_000,
      example: '?text=hello&algorithm=sha256',
    },
    (ask) => {
      const algorithm = ask.choice('algorithm', ['sha256', 'sha512', 'sha3-256'], 'sha256')
      const digest = createHash(algorithm).update(ask.text('text')).digest()
      return { algorithm, hex: digest.toString('hex'), base64: digest.toString('base64') }
    },
  ),
  computed(
    {
      path: '/lathe/uuid',
      name: 'Stable UUIDs',
      description: 'The version 5 UUID of a URL or any other name: the same name always has the same one.',
      category: 'code',
      price: '0.01',
      commissionBps: 1_200,
      example: '?name=https://example.com/',
    },
    (ask) => {
      const hash = createHash('sha1').update(URL_NAMESPACE).update(ask.text('name')).digest().subarray(0, 16)
      hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
      hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
      const uuid = hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
      return { uuid, version: 5 }
    },
  ),
  computed(
    {
      path: '/lathe/glob',
      name: 'Glob tester',
      description:
        'Tells which paths a glob pattern matches, with * for a part of a name and ** for folders.',
      category: 'code',
      price: '0.02',
      commissionBps: 1_500,
      example: '?pattern=src/**/*.ts&paths=src/a.ts,src/b/c.ts,test/d.ts',
    },
    (ask) => {
      const pattern = ask.text('pattern').split('/')
      const paths = ask.text('paths').split(',')
      return { matches: paths.filter((path) => matchesFolders(pattern, path.split('/'))) }
    },
  ),
  computed(
    {
      path: '/lathe/cron',
      name: 'Cron explainer',
      description: 'When a cron expression of five fields runs next, in UTC.',
      category: 'code',
      price: '0.03',
      commissionBps: 2_000,
      example: '?expression=30+9+*+*+1-5&after=2026-03-20T12:00:00Z',
    },
    (ask, now) => {
      const expression = ask.text('expression').trim()
      const after = Date.parse(ask.text('after', new Date(now).toISOString()))
      if (Number.isNaN(after)) throw new RequestError('after must be a moment like 2026-03-20T12:00:00Z')
      return { expression, next: nextRuns(readCron(expression), after, 3) }
    },
  ),
  computed(
    {
      path: '/lathe/csv',
      name: 'CSV to JSON',
      description:
        'Rows of a CSV text with a header line as JSON objects; quotes and line breaks in cells are kept.',
      category: 'code',
      price: '0.03',
      commissionBps: 1_500,
      example: '?csv=name,born%0AAda,1815%0AGrace,1906',
    },
    (ask) => {
      const [header, ...rows] = readCsv(ask.text('csv'))
      if (!header) throw new RequestError('csv must have a header line')
      return {
        rows: rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))),
      }
    },
  ),
  computed(
    {
      path: '/lathe/semver',
      name: 'Version order',
      description: 'Sorts version numbers by the rules of semantic versioning, pre-releases included.',
      category: 'code',
      price: '0.02',
      commissionBps: 1_500,
      example: '?versions=1.10.0,1.9.2,1.10.0-rc.1',
    },
    (ask) => {
      const versions = ask.text('versions').split(',')
      const wrong = versions.find((version) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
      if (wrong !== undefined) throw new RequestError(`${wrong} is no version like 1.2.3 or 1.2.3-rc.1`)
      const sorted = versions.toSorted(compareVersions)
      return { sorted, newest: sorted.at(-1) }
    },
  ),
]

/** Follows all ways at once, as the numbers of folders that they have passed: as many steps as pattern and path have parts, multiplied. */
function matchesFolders(pattern: readonly string[], path: readonly string[]): boolean {
  let passed = new Set([0])
  for (const part of pattern) {
    const least = Math.min(...passed)
    passed = new Set(
      part === '**'
        ? Array.from({ length: path.length + 1 - least }, (_, more) => least + more)
        : [...passed]
            .filter((at) => at < path.length && matchesName(part, path[at] ?? ''))
            .map((at) => at + 1),
    )
    if (passed.size === 0) return false
  }
  return passed.has(path.length)
}

/** Each star takes as little as it can: linear, unlike a regular expression. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return name === first
  const last = rest.pop() ?? ''
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

type Cron = readonly Set<number>[]

function readCron(expression: string): Cron {
  const fields = expression.split(/\s+/)
  if (fields.length !== CRON_FIELDS.length) throw new RequestError('expression must have five fields')
  return CRON_FIELDS.map(([name, from, to], at) => {
    const values = new Set<number>()
    for (const part of (fields[at] ?? '').split(',')) {
      const [, first, last, step = '1'] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(part) ?? []
      const start = first === '*' ? from : Number(first)
      const end = first === '*' ? to : Number(last ?? start)
      if (!(start >= from && end <= to && start <= end && Number(step) > 0))
        throw new RequestError(`${name} must be from ${from} to ${to}`)
      for (let value = start; value <= end; value += Number(step)) values.add(value)
    }
    return values
  })
}

/** Looks at the days of a leap cycle, and at the minutes of those that fit. */
function nextRuns(cron: Cron, after: number, most: number): string[] {
  const [minutes, hours, days, months, weekdays] = cron as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  const runs: string[] = []
  const today = Math.floor(after / DAY_MS)
  for (let day = today; day <= today + 1_462 && runs.length < most; day++) {
    const date = new Date(day * DAY_MS)
    if (
      !days.has(date.getUTCDate()) ||
      !months.has(date.getUTCMonth() + 1) ||
      !weekdays.has(date.getUTCDay())
    )
      continue
    for (let minute = 0; minute < 1_440 && runs.length < most; minute++) {
      const moment = day * DAY_MS + minute * MINUTE_MS
      if (moment > after && minutes.has(minute % 60) && hours.has(Math.floor(minute / 60)))
        runs.push(`${new Date(moment).toISOString().slice(0, 16)}Z`)
    }
  }
  return runs
}

function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n\r]*))(,|\r?\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}

function compareVersions(a: string, b: string): number {
  const [[mainA = '', preA], [mainB = '', preB]] = [splitVersion(a), splitVersion(b)]
  return (
    compareParts(mainA.split('.'), mainB.split('.')) ||
    Number(preA === undefined) - Number(preB === undefined) ||
    compareParts(preA?.split('.') ?? [], preB?.split('.') ?? [])
  )
}

const splitVersion = (version: string) => {
  const dash = version.indexOf('-')
  return dash < 0 ? [version] : [version.slice(0, dash), version.slice(dash + 1)]
}

function compareParts(a: string[], b: string[]): number {
  for (const [at, one] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
    const order =
      isNumber && isOtherNumber
        ? Number(one) - Number(other)
        : Number(isOtherNumber) - Number(isNumber) || (one < other ? -1 : Number(one > other))
    if (order !== 0) return order
  }
  return a.length - b.length
}
