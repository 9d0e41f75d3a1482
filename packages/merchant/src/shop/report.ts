import type { Hash } from 'viem'

/** One thing that a shop needs: it was there already, or it was done now. */
export interface Step {
  name: string
  /** False: it was there already. */
  changed: boolean
  text: string
  transaction?: Hash
}

/** Who is told what happens. */
export interface Reporter {
  step(step: Step): void
  /** Waits for the work, and says what is waited for where that takes long. */
  during<T>(what: string, work: Promise<T>): Promise<T>
}

/** The message says in one line what is wrong and what to do next. */
export class ShopError extends Error {
  override readonly name = 'ShopError'
}
