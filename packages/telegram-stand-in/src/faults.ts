import type { Failure } from './api-error.ts'

/** How a call goes wrong: with an answer, without one, or, by `drop-answer`, after it was done. */
export type Fault = Failure | 'hang' | 'reset' | 'drop-answer'

export interface Faults {
  /** The next `times` calls of `method`, or of any by `*`, fail like this. Returns what ends it earlier. */
  fail(method: string, fault: Fault, times?: number): () => void
  /** How this call fails, if it does. */
  next(method: string): Fault | undefined
}

export function createFaults(): Faults {
  const planned: { method: string; fault: Fault; left: number }[] = []
  return {
    fail(method, fault, times = 1) {
      const plan = { method, fault, left: times }
      planned.push(plan)
      return () => {
        plan.left = 0
      }
    },
    next(method) {
      const plan = planned.find((one) => one.left > 0 && (one.method === method || one.method === '*'))
      if (!plan) return undefined
      plan.left--
      return plan.fault
    },
  }
}
