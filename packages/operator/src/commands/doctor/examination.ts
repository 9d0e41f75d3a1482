// Runs the checks: in parallel, each with a time limit, and each after those that it builds on.
import { DatabaseError } from '@referrer/database'
import { ConfigError, withTimeout } from '@referrer/process'

export type Status = 'ok' | 'warning' | 'wrong' | 'skipped'

export interface Finding {
  group: string
  check: string
  status: Status
  found: string
  /** What to do next. */
  advice?: string
}

/** What a check found. Checks that build on it get the value. */
export interface Verdict<T> {
  status: 'ok' | 'warning' | 'wrong'
  found: string
  advice?: string
  value?: T
}

export const fine = <T = undefined>(found: string, value?: T): Verdict<T> => ({
  status: 'ok',
  found,
  value: value as T,
})
export const warning = <T = undefined>(found: string, advice: string, value?: T): Verdict<T> => ({
  status: 'warning',
  found,
  advice,
  value: value as T,
})
export const wrong = (found: string, advice: string): Verdict<never> => ({ status: 'wrong', found, advice })

export interface Check<D, T> {
  group: string
  name: string
  /** What it builds on. If that is wrong, this check is not made. */
  needs?: Promise<D>
  /** What to do if the check itself fails or takes too long. */
  advice: string
  withinMs?: number
  run(given: D): Promise<Verdict<T>> | Verdict<T>
}

const WITHIN_MS = 6_000

/** An earlier check failed, so that a later one cannot be made. */
export class Blocked extends Error {
  readonly title: string

  constructor(title: string) {
    super(`not checked, because this is wrong: ${title}`)
    this.title = title
  }
}

export class Examination {
  readonly #findings: Promise<Finding>[] = []
  readonly #open = new Set<string>()
  readonly #closers: (() => Promise<unknown>)[] = []

  /** Begins a check. Returns the value that it found; rejects with `Blocked` when there is none. */
  check<T, D = undefined>(check: Check<D, T>): Promise<T> {
    const title = `${check.group}: ${check.name}`
    const judged = this.#judge(title, check)
    this.#findings.push(
      judged.then(({ status, found, advice }) => ({
        group: check.group,
        check: check.name,
        status,
        found,
        ...(advice !== undefined && { advice }),
      })),
    )
    const value = judged.then((verdict) => {
      if (verdict.status === 'skipped' || verdict.status === 'wrong')
        throw new Blocked(verdict.because ?? title)
      return verdict.value as T
    })
    // A value that nobody builds on is not awaited.
    value.catch(() => {})
    return value
  }

  async #judge<D, T>(
    title: string,
    { needs, run, advice, withinMs = WITHIN_MS }: Check<D, T>,
  ): Promise<Omit<Verdict<T>, 'status'> & { status: Status; because?: string }> {
    this.#open.add(title)
    try {
      const given = (await needs) as D
      const working = Promise.resolve().then(() => run(given))
      return await withTimeout(withinMs, working, () =>
        wrong(`no answer within ${withinMs / 1_000} s`, advice),
      )
    } catch (error) {
      if (error instanceof Blocked) return { status: 'skipped', found: error.message, because: error.title }
      return failed(error, advice)
    } finally {
      this.#open.delete(title)
    }
  }

  /** What is to be done after all checks, such as closing a connection. */
  atEnd(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** The checks that have not ended yet. */
  waiting(): string[] {
    return [...this.#open]
  }

  /** In the order in which the checks were begun. */
  async findings(): Promise<Finding[]> {
    const findings = await Promise.all(this.#findings)
    await Promise.allSettled(this.#closers.map((close) => close()))
    return findings
  }
}

/** Errors of the database say after a colon what to do. */
function failed(error: unknown, advice: string): Verdict<never> {
  if (error instanceof ConfigError) return wrong(error.problems.join('; '), advice)
  const message = error instanceof Error ? error.message : String(error)
  const [found = message, ...next] = error instanceof DatabaseError ? message.split(/: (?=[a-z])/) : [message]
  return wrong(found, next.length > 0 ? next.join(': ') : advice)
}

/** The first value that comes; `Blocked` when none does. */
export async function anyOf<T>(values: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(values)
  } catch (error) {
    throw (error as AggregateError).errors[0]
  }
}

/** The values that come. */
export async function allOf<T>(values: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(values)
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
