// Invariants: arithmetic relations that the measurements of a review must satisfy.
import { z } from 'zod'
import { add, compare, type Decimal, multiply, parseDecimal } from './decimal.ts'

/** A number, the path of a number (`latency_ms.p50`), or a sum or product of expressions. */
export type Expression = number | string | { '+': Expression[] } | { '*': Expression[] }

const PATH = /^[^.]+(?:\.[^.]+)*$/

const Expression: z.ZodType<Expression> = z.lazy(() =>
  z.union([
    z.number(),
    z.string().regex(PATH),
    z.strictObject({ '+': z.array(Expression).min(1) }),
    z.strictObject({ '*': z.array(Expression).min(1) }),
  ]),
)

export const Invariant = z.strictObject({
  /** Shown to the author of a review that breaks the invariant. */
  name: z.string().min(1),
  left: Expression,
  op: z.enum(['=', '<', '<=']),
  right: Expression,
})
export type Invariant = z.output<typeof Invariant>

/** Parses content and keeps its numbers as text, because a double would round them. */
export function measure(json: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source: string }) => unknown,
  ) => unknown
  return parse(json, (_key, value, { source }) =>
    typeof value === 'number' ? new NumberText(source) : value,
  )
}

/** A number in its original notation. */
export class NumberText {
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  toString(): string {
    return this.#source
  }
}

/** Whether the result of `measure` satisfies an invariant. A value that is missing or not a number breaks it. */
export function holds({ left, op, right }: Invariant, content: unknown): boolean {
  const [a, b] = [evaluate(left, content), evaluate(right, content)]
  if (!a || !b) return false
  const order = compare(a, b)
  return op === '=' ? order === 0 : op === '<' ? order < 0 : order <= 0
}

function evaluate(expression: Expression, content: unknown): Decimal | undefined {
  if (typeof expression === 'number') return parseDecimal(String(expression))
  if (typeof expression === 'string') return decimalAt(expression, content)
  const [parts, combine] = '+' in expression ? [expression['+'], add] : [expression['*'], multiply]
  return parts
    .map((part) => evaluate(part, content))
    .reduce((sum, value) => sum && value && combine(sum, value))
}

function decimalAt(path: string, content: unknown): Decimal | undefined {
  let value = content
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return typeof value === 'string' || value instanceof NumberText ? parseDecimal(String(value)) : undefined
}
