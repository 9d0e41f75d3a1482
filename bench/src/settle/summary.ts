import type { Parts } from '../parts.ts'
import { report } from '../report.ts'
import { type Contender, ours, oursWithFour, stock, withNonceManager } from './contenders.ts'
import type { Case, Measured } from './measure.ts'

/** Targets of our settlements a second, as multiples of the official facilitator's with a nonce manager. */
const TARGETS: Partial<Record<string, number>> = { burst1s: 10 }

/** Collects the figures for one table and one file. */
export function createSummary(parts: Parts) {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  const missed: string[] = []

  /** Adds a case that all contenders were measured in. */
  function add({ name, title, each }: Case, measured: ReadonlyMap<Contender, Measured>): void {
    const ratioOf = (mine: Contender, other: Contender) =>
      (measured.get(mine)?.perSecond ?? Number.NaN) / (measured.get(other)?.perSecond ?? Number.NaN)
    for (const other of [withNonceManager, stock]) {
      setUnlessMissing(ratios, `${name}_vs_${other.name}`, ratioOf(ours, other))
      setUnlessMissing(ratios, `${name}_four_keys_vs_${other.name}`, ratioOf(oursWithFour, other))
    }
    figures[`${name}_payments_each`] = each
    const target = TARGETS[name]
    const reached = ratioOf(ours, withNonceManager)
    if (target !== undefined && reached < target) missed.push(`${title}: ${reached.toFixed(2)} of ${target}`)
    for (const [contender, { failure, ...found }] of measured) {
      for (const [key, value] of Object.entries(found)) figures[`${name}_${contender.name}_${key}`] = value
      if (contender.trace === 'escrow' && found.failures > 0) {
        missed.push(`${title}, ${contender.title}: ${found.failures} failed, most often with "${failure}"`)
      }
      const ratio = ratioOf(contender, withNonceManager)
      rows.push({
        case: title,
        facilitator: contender.title,
        'settled/s': found.perSecond.toFixed(1),
        'p50 ms': Math.round(found.p50Ms),
        'p99 ms': Math.round(found.p99Ms),
        failed: found.failures,
        reverted: found.reverted,
        'gas each': Math.round(found.gasEach).toLocaleString('en'),
        transactions: found.transactions,
        'CPU ms each': found.cpuMsEach.toFixed(1),
        'of the node': found.nodeCpuMsEach.toFixed(1),
        'to nonceManager': Number.isNaN(ratio) ? '' : ratio.toFixed(2),
        target: contender === ours && target !== undefined ? `≥ ${target}` : '',
      })
    }
  }

  /** Adds how often a contender asks the node for one settlement. */
  function addCalls({ name }: Contender, each: number): void {
    figures[`rpc_calls_${name}`] = each
  }

  function tell(): void {
    report({ name: 'settle', figures, ratios, rows, failed: parts.failed })
    for (const line of missed) console.log(`target missed: ${line}`)
  }

  return { add, addCalls, tell }
}

function setUnlessMissing(record: Record<string, number>, key: string, value: number): void {
  if (!Number.isNaN(value)) record[key] = value
}
