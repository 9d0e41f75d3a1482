import { DatabaseError } from './errors.ts'

/** A parameter whose type the driver is told; 0 leaves it to the server. */
export type Typed = (value: unknown, type: number) => unknown

const NUMERIC = 1700
const LEFT_TO_SERVER = 0
const INT8_MAX = 2n ** 63n - 1n
const INT8_MIN = -(2n ** 63n)

/**
 * The driver sends every bigint as int8 and an array with the type of its first element. Here a bigint beyond
 * int8 goes as numeric, and the server says what an array holds.
 */
export function fitParameter(value: unknown, typed: Typed): unknown {
  if (value === undefined) {
    throw new DatabaseError('A parameter of this query is undefined: pass null, or leave the column out.')
  }
  if (typeof value === 'bigint' && (value > INT8_MAX || value < INT8_MIN)) return typed(value, NUMERIC)
  const isFragments = Array.isArray(value) && value[0] instanceof Promise
  return Array.isArray(value) && !isFragments ? typed(value, LEFT_TO_SERVER) : value
}

/** The same for what the helper `sql(…)` takes: a row, rows, or a list of values. */
export function fitHelper(first: unknown, rest: unknown[], typed: Typed): unknown {
  if (Array.isArray(first)) return first.map((element) => fitHelperElement(element, rest, typed))
  return fitHelperElement(first, rest, typed)
}

function fitHelperElement(element: unknown, columns: unknown[], typed: Typed): unknown {
  if (Array.isArray(element)) return element.map((value) => fitParameter(value, typed))
  if (!isRow(element)) return fitParameter(element, typed)
  const names = columns.length > 0 ? columns.flat().map(String) : Object.keys(element)
  return Object.fromEntries(names.map((name) => [name, fitParameter(element[name], typed)]))
}

function isRow(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
