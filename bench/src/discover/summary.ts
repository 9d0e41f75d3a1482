import type { Parts } from '../parts.ts'
import { report } from '../report.ts'
import type { Index, Measured, Times } from './measure.ts'

/** What the largest market may take, and how much more than the next smaller one. */
const MOST = {
  memory: { p99Ms: 20, growth: 1.5, visibleMs: 5_000, restartMs: 60_000 },
  postgres: { p99Ms: 100, growth: Number.POSITIVE_INFINITY, visibleMs: 5_000, restartMs: 60_000 },
}
const LARGE = 200_000

export function tell(
  results: readonly (readonly [products: number, measured: Measured])[],
  { failed }: Parts,
  index: Index,
): void {
  const limits = MOST[index]
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const missed: string[] = []
  for (const [products, measured] of results) {
    for (const [name, value] of figuresOf(measured)) figures[`${products}_${name}`] = value
    const { alone, plain } = measured
    if (plain) {
      ratios[`${products}_p50_to_postgres`] = alone.p50Ms / plain.p50Ms
      ratios[`${products}_p99_to_postgres`] = alone.p99Ms / plain.p99Ms
    }
    if (products >= LARGE)
      missed.push(...missesOf(measured, limits).map((miss) => `${products} products: ${miss}`))
  }
  for (const [index, [products, measured]] of results.entries()) {
    const [fewer, before] = results[index - 1] ?? []
    if (before === undefined) continue
    const growth = measured.alone.p99Ms / before.alone.p99Ms
    ratios[`p50_${products}_to_${fewer}`] = measured.alone.p50Ms / before.alone.p50Ms
    ratios[`p99_${products}_to_${fewer}`] = growth
    if (products >= LARGE && growth > limits.growth)
      missed.push(`p99 is ${growth.toFixed(2)} times that of ${fewer} products, not ${limits.growth}`)
  }
  const rows = results.map(([products, measured]) => rowOf(products, measured))
  report({ name: index === 'memory' ? 'discover' : 'discover-postgres', figures, ratios, rows, failed })
  for (const line of missed) console.log(`target missed: ${line}`)
}

const figuresOf = (measured: Measured): [string, number][] => [
  ['p50_ms', measured.alone.p50Ms],
  ['p99_ms', measured.alone.p99Ms],
  ['four_p50_ms', measured.four.p50Ms],
  ['four_p99_ms', measured.four.p99Ms],
  ['per_second', measured.perSecond],
  ['cpu_us', measured.cpuMicros],
  ['database_cpu_us', measured.databaseCpuMicros],
  ['resident_bytes', measured.residentBytes],
  ['visible_median_ms', measured.visibleMs.median],
  ['visible_worst_ms', measured.visibleMs.worst],
  ['first_start_ms', measured.firstStartMs],
  ['restart_ms', measured.restartMs],
  ['restart_cpu_ms', measured.restartCpuMs],
  ...(measured.plain
    ? ([
        ['postgres_p50_ms', measured.plain.p50Ms],
        ['postgres_p99_ms', measured.plain.p99Ms],
      ] satisfies [string, number][])
    : []),
]

function missesOf({ alone, visibleMs, restartMs }: Measured, limits: (typeof MOST)[Index]): string[] {
  const misses = [
    [`p99 ${alone.p99Ms.toFixed(1)} ms`, alone.p99Ms, limits.p99Ms],
    [`a new name found after ${visibleMs.worst.toFixed(0)} ms`, visibleMs.worst, limits.visibleMs],
    [`the index there after ${restartMs.toFixed(0)} ms`, restartMs, limits.restartMs],
  ] as const
  return misses.filter(([, value, most]) => value > most).map(([text, , most]) => `${text}, not ${most}`)
}

const rowOf = (products: number, measured: Measured): Record<string, string | number> => ({
  products: products.toLocaleString('en'),
  'p50, p99 ms': both(measured.alone),
  '4 at once': both(measured.four),
  'requests/s': Math.round(measured.perSecond),
  'CPU ms': (measured.cpuMicros / 1_000).toFixed(1),
  'of Postgres': (measured.databaseCpuMicros / 1_000).toFixed(1),
  'memory MB': Math.round(measured.residentBytes / 2 ** 20),
  'new name found s': `${seconds(measured.visibleMs.median)}, ${seconds(measured.visibleMs.worst)}`,
  'first start s': seconds(measured.firstStartMs),
  'restart s': seconds(measured.restartMs),
  'its CPU s': seconds(measured.restartCpuMs),
  'Postgres p50, p99 ms': measured.plain ? both(measured.plain) : '',
})

const both = ({ p50Ms, p99Ms }: Times) => `${p50Ms.toFixed(1)}, ${p99Ms.toFixed(1)}`
const seconds = (ms: number) => (ms / 1_000).toFixed(1)
