import { BaseError } from 'viem'
import type { Reporter, Step } from './report.ts'

export interface Output {
  out(text: string): void
  err(text: string): void
}

const LONG_MS = 2_000

/** A line for each step, unless a program reads the result; what takes long goes to the other stream. */
export function reporterOf(
  { out, err }: Output,
  { isJson }: { isJson: boolean },
): Reporter & { steps: Step[] } {
  const steps: Step[] = []
  return {
    steps,
    step(step) {
      steps.push(step)
      if (!isJson) out(showStep(step))
    },
    async during(what, work) {
      const timer = setTimeout(() => err(`… ${what}`), LONG_MS)
      try {
        return await work
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

const NAME_WIDTH = 16

/** `+` is new, `=` was there already. */
export const showStep = ({ name, changed, text }: Step) =>
  `${changed ? '+' : '='} ${name.padEnd(NAME_WIDTH)}${text}`

/** What went wrong, in one line. */
export function explain(error: unknown): string {
  const text =
    error instanceof BaseError ? `the chain: ${error.shortMessage}` : String(Object(error).message ?? error)
  return text.split('\n', 1)[0] ?? ''
}
