import type { Report } from '../report.ts'
import type { Found } from './audit.ts'
import type { Faults } from './faults.ts'
import { percentile, type Tally } from './tally.ts'

export interface Summary {
  tallies: Record<'payments' | 'journeys' | 'write' | 'read', Tally>
  faults: Faults
  found: Found
  seconds: number
}

const TITLES = {
  payments: 'payments',
  journeys: 'votes and reviews',
  write: 'caps set',
  read: 'caps read',
} as const

export function rowsOf({ tallies, faults, found, seconds }: Summary): Pick<Report, 'rows' | 'figures'> {
  const rows: Report['rows'] = []
  const figures: Report['figures'] = {
    seconds,
    kills: faults.kills.length,
    failOvers: faults.failOvers.length,
    failOverSeconds: Math.max(0, ...faults.failOvers.map((each) => each.seconds)),
    settled: found.settled,
    cashbacksReleased: found.released,
    relayerTransactionsReverted: found.reverted,
  }
  for (const [name, title] of Object.entries(TITLES) as [keyof typeof TITLES, string][]) {
    const { done, repeated, failures, waits, lost } = tallies[name]
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
    rows.push({
      what: title,
      done,
      'a second': (done / seconds).toFixed(1),
      'failed requests': failed,
      'hidden by repeating': repeated,
      lost: lost.length,
      'p50 ms': percentile(waits, 0.5).toFixed(0),
      'p99 ms': percentile(waits, 0.99).toFixed(0),
      'longest ms': Math.max(0, ...waits).toFixed(0),
    })
    figures[`${name}.done`] = done
    figures[`${name}.failedRequests`] = failed
    figures[`${name}.repeated`] = repeated
    figures[`${name}.lost`] = lost.length
    figures[`${name}.p99Ms`] = percentile(waits, 0.99)
    figures[`${name}.longestMs`] = Math.max(0, ...waits)
  }
  return { rows, figures }
}
