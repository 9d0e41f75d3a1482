// Why a run has failed.
import type { TestCase } from './results.ts'

export interface Findings {
  /** Names of the steps that failed. */
  steps: readonly string[]
  /** Tests that failed and passed when their files ran again, alone. */
  unsteady: readonly TestCase[]
  /** Rules that only long tests name. */
  unheld: readonly string[]
  /** Lines about tests that name rules there are not, and about those that contradict a decision. */
  unknown: readonly string[]
  contradicted: readonly string[]
}

/** More are no bad luck of one run. */
const MOST_UNSTEADY = 2

/** One line for each reason; none when the run has passed. */
export function reasonsToFail({ steps, unsteady, unheld, unknown, contradicted }: Findings): string[] {
  return [
    ...(steps.length ? [`failed: ${steps.join(', ')}`] : []),
    ...(unsteady.length > MOST_UNSTEADY
      ? [`failed: ${unsteady.length} tests are unsteady, and at most ${MOST_UNSTEADY} may be`]
      : []),
    ...(contradicted.length ? ['failed: tests and conformance/decisions.tsv contradict each other'] : []),
    ...(unknown.length ? ['failed: tests name rules that are not in conformance/rules.tsv'] : []),
    ...(unheld.length ? [`failed: only long tests name ${unheld.join(', ')}`] : []),
  ]
}
