import type { Parts } from '../parts.ts'
import { report } from '../report.ts'
import type { Measured } from './compare.ts'

/** A ratio of requests a second or, by `p50`, of median speeds, which vary less for one caller on a busy machine. `least` is the target. */
export type Ratio = { to: string; by?: 'p50'; least?: number | undefined }

/** Collects the figures for one table and one file. */
export function createSummary(bench: string, parts: Parts) {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  const missed: string[] = []

  /** Adds all contenders of a case. A ratio is `of` one contender to another. */
  function add(name: string, measured: Map<string, Measured>, of: string, compared: Ratio[]): void {
    const speed = (contender: string, by?: 'p50') => {
      const { perSecond = Number.NaN, p50Ms = Number.NaN } = measured.get(contender) ?? {}
      return by === 'p50' ? 1 / p50Ms : perSecond
    }
    const told = compared.map(({ to, by, least }) => {
      const ratio = speed(of, by) / speed(to, by)
      ratios[key(name, 'to', to)] = ratio
      if (least !== undefined && ratio < least) missed.push(`${name}: ${ratio.toFixed(2)} of ${to}`)
      return { text: `${ratio.toFixed(2)} of ${to}`, target: least === undefined ? '' : `≥ ${least}` }
    })
    for (const [contender, { perSecond, p50Ms, p99Ms, cpuMicros }] of measured) {
      figures[key(name, contender, 'per_second')] = perSecond
      figures[key(name, contender, 'p50_ms')] = p50Ms
      figures[key(name, contender, 'p99_ms')] = p99Ms
      figures[key(name, contender, 'cpu_us')] = cpuMicros
      rows.push({
        case: name,
        server: contender,
        'requests/s': Math.round(perSecond),
        'p50 ms': p50Ms.toFixed(2),
        'p99 ms': p99Ms.toFixed(2),
        'CPU µs': Math.round(cpuMicros),
        ratio: contender === of ? told.map(({ text }) => text).join(', ') : '',
        target:
          contender === of
            ? told
                .map(({ target }) => target)
                .join(' ')
                .trim()
            : '',
      })
    }
  }

  function tell(): void {
    report({ name: bench, figures, ratios, rows, failed: parts.failed })
    for (const line of missed) console.log(`target missed: ${line}`)
  }

  return { add, tell }
}
export type Summary = ReturnType<typeof createSummary>

/** A key of the results: letters, digits and underscores. */
function key(...words: string[]): string {
  return words.join(' ').replaceAll(/\W+/g, '_')
}
