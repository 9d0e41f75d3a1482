// Requests that somebody makes who wants to see what breaks.
import fc from 'fast-check'
import { zeroHash } from 'viem'

type Path = string[]

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const below = Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))
  return path.length === 0 ? below : [path, ...below]
}

/** A copy with another value in one place, or without that place. */
function altered(root: object, path: Path, value: unknown): unknown {
  const copy = structuredClone(root)
  const parent = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((at, key) => Object(at[key]), copy as never)
  const last = path.at(-1) ?? ''
  if (value === undefined) delete parent[last]
  else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

/** Good bodies with one or two places altered, and bodies that never were good. */
export function hostileTo(bodies: object[]): fc.Arbitrary<unknown> {
  const nasty = fc.oneof(
    fc.anything(),
    fc.jsonValue(),
    fc.constantFrom(
      null,
      -1,
      0,
      1e21,
      '',
      '0x',
      '-1',
      '01',
      '1e3',
      '\ud800',
      'eip155:84532',
      zeroHash,
      String(2n ** 256n - 1n),
      String(2n ** 256n),
      '9'.repeat(5_000),
      `0x${'00'.repeat(20_000)}`,
      [],
      {},
    ),
  )
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(...bodies).chain((body) => {
        const paths = fc.constantFrom(...pathsOf(body))
        return fc.oneof(
          fc.tuple(paths, nasty).map(([path, value]) => altered(body, path, value)),
          paths.map((path) => altered(body, path, undefined)),
          fc
            .tuple(paths, paths, nasty, nasty)
            .map(([one, other, a, b]) => altered(altered(body, one, a) as object, other, b)),
        )
      }),
    },
    {
      weight: 1,
      arbitrary: fc
        .jsonValue()
        .map((value) => ({ x402Version: 2, paymentPayload: value, paymentRequirements: value })),
    },
    { weight: 1, arbitrary: fc.object() },
  )
}
