import fc from 'fast-check'
import { expect } from 'vitest'
import { ProtocolError } from '../src/error.ts'

/** Text near a valid one and far from it: cut, altered, random, huge. */
export function hostileText(valid: string): fc.Arbitrary<unknown> {
  const at = fc.nat(valid.length - 1)
  return fc.oneof(
    at.map((end) => valid.slice(0, end)),
    fc
      .tuple(at, fc.string({ minLength: 1, maxLength: 1 }))
      .map(([index, char]) => valid.slice(0, index) + char + valid.slice(index + 1)),
    fc.tuple(at, fc.string()).map(([index, text]) => valid.slice(0, index) + text + valid.slice(index)),
    fc.string({ unit: 'binary' }),
    fc.base64String(),
    fc.constantFrom('', 'A'.repeat(1_000_000), '='.repeat(100_000), `${valid}\n`, ` ${valid}`),
    fc.anything(),
  )
}

/** JSON near a valid value and far from it: one place, at any depth, replaced, removed or joined by a stranger. */
export function hostileJson(valid: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(valid)
  const value = fc.oneof(
    fc.anything(),
    fc.jsonValue(),
    fc.constantFrom(null, -1, 1e21, Number.NaN, '', '0x', '-1', '1e3', '\ud800', 2n ** 256n, [], {}),
  )
  return fc.oneof(
    fc.tuple(fc.constantFrom(...paths), value).map(([path, other]) => withValue(valid, path, other)),
    fc.constantFrom(...paths).map((path) => withValue(valid, path, undefined)),
    fc
      .tuple(fc.constantFrom([], ...paths), fc.string())
      .map(([path, key]) => withValue(valid, [...path, key], 1)),
    fc.anything(),
    fc.jsonValue(),
  )
}

/** Runs the decoder on each input: it may answer or throw a `ProtocolError`, and nothing else. */
export async function expectOnlyProtocolErrors(
  inputs: fc.Arbitrary<unknown>,
  decode: (input: unknown) => unknown,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      try {
        await decode(input)
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
      }
    }),
    { numRuns: 500 },
  )
}

/** The code of the `ProtocolError` that this throws, or what it returned instead. */
export async function codeOf(run: () => unknown): Promise<unknown> {
  try {
    return { returned: await run() }
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
}

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const below = Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))
  return path.length === 0 ? below : [path, ...below]
}

function withValue(root: object, path: string[], value: unknown): unknown {
  const copy = structuredClone(root)
  let at = copy as Record<string, unknown>
  for (const key of path.slice(0, -1)) {
    if (typeof at[key] !== 'object' || at[key] === null) return copy
    at = at[key] as Record<string, unknown>
  }
  const last = path.at(-1) ?? ''
  if (value === undefined) delete at[last]
  else Reflect.defineProperty(at, last, { value, enumerable: true, configurable: true, writable: true })
  return copy
}
