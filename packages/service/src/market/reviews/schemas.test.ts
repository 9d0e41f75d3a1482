import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseContent } from './content.ts'
import { add, compare, multiply, parseDecimal } from './decimal.ts'
import { holds, measure } from './invariant.ts'
import { checkCategory, loadReviewSchemas } from './schemas.ts'

const shipped = loadReviewSchemas({ reviewSchemas: undefined })

const api = {
  rating: 4,
  description: 'quick',
  calls: 3,
  successes: 2,
  failures: 1,
  latency_ms: { p50: 10, p95: 20.5, p99: 20.5 },
  cost_usdc: 0.3,
  cost_per_call_usdc: 0.1,
}

const check = (content: object | string, category = 'api', schemas = shipped) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  checkCategory(schemas, category, { content: parseContent(text), text })
}

describe('a review of an api', () => {
  it('is taken when its figures add up exactly, as numbers or as decimal text', () => {
    for (const content of [
      api,
      { ...api, cost_usdc: '0.30', cost_per_call_usdc: '0.1000' },
      { ...api, calls: 0, successes: 0, failures: 0, cost_usdc: 0 },
      JSON.stringify(api).replace('0.3', '3e-1'),
    ]) {
      expect(() => check(content)).not.toThrow()
    }
  })

  it.each([
    [{ calls: 4 }, 'calls = successes + failures does not hold: invalid input'],
    [{ latency_ms: { p50: 30, p95: 20, p99: 40 } }, 'p50 ≤ p95 ≤ p99 does not hold: invalid input'],
    [{ latency_ms: { p50: 1, p95: 20, p99: 19 } }, 'p50 ≤ p95 ≤ p99 does not hold: invalid input'],
    [
      { cost_usdc: 0.30000000000000004 },
      'cost_usdc = calls × cost_per_call_usdc does not hold: invalid input',
    ],
    [{ cost_usdc: '0.31' }, 'cost_usdc = calls × cost_per_call_usdc does not hold: invalid input'],
    [{ calls: undefined }, "schema of category api: must have required property 'calls': invalid input"],
    [{ calls: 3.5 }, 'schema of category api: /calls must be integer: invalid input'],
    [{ latency_ms: 7 }, 'schema of category api: /latency_ms must be object: invalid input'],
    [{ cost_usdc: '1e3' }, 'schema of category api: /cost_usdc'],
  ])('with %j is refused', (change, message) => {
    expect(() => check({ ...api, ...change })).toThrow(message)
  })

  it('is generic where the category has no schema', () => {
    check({ rating: 1, description: 'x' }, 'books')
    expect(() => check({ rating: 1, description: 'x' })).toThrow('schema of category api')
  })
})

describe('schemas of a deployment', () => {
  const directory = (files: Record<string, unknown>) => {
    const path = mkdtempSync(join(tmpdir(), 'schemas-'))
    for (const [name, file] of Object.entries(files)) {
      writeFileSync(join(path, name), typeof file === 'string' ? file : JSON.stringify(file))
    }
    return { reviewSchemas: path }
  }
  const schema = { type: 'object', required: ['gb'], properties: { gb: { type: 'number' } } }

  it('stand beside those of the service, or in their place', () => {
    const invariants = [{ name: 'gb ≤ 10', left: 'gb', op: '<=', right: 10 }]
    const own = loadReviewSchemas(
      directory({ 'a.json': { category: 'storage', schema, invariants }, 'readme.txt': 'x' }),
    )
    expect([...own.keys()]).toEqual(['api', 'storage'])
    check({ rating: 1, description: 'x', gb: 10 }, 'storage', own)
    expect(() => check({ rating: 1, description: 'x', gb: 10.1 }, 'storage', own)).toThrow(
      'gb ≤ 10 does not hold',
    )
    const other = loadReviewSchemas(directory({ 'a.json': { category: 'api', schema } }))
    check({ rating: 1, description: 'x', gb: 1 }, 'api', other)
  })

  it.each([
    ['{', /a\.json: .*JSON/],
    [{ schema }, /a\.json: category: /],
    [{ category: 'x', schema, extra: 1 }, /a\.json: the file: .*extra/],
    [{ category: 'x', schema: { type: 'objekt' } }, /a\.json: schema is invalid/],
    [{ category: 'x', schema: { typo: 1 } }, /a\.json: strict mode: unknown keyword/],
    [
      { category: 'x', schema: { $ref: 'https://elsewhere.example/s.json' } },
      /a\.json: can't resolve reference/,
    ],
    [
      { category: 'x', schema, invariants: [{ name: 'n', left: 'a', op: '-', right: 1 }] },
      /a\.json: invariants\.0\.op/,
    ],
    [
      { category: 'x', schema, invariants: [{ name: 'n', left: 'a..b', op: '=', right: 1 }] },
      /a\.json: invariants\.0\.left/,
    ],
  ])('that are bad stop the start: %j', (file, message) => {
    expect(() => loadReviewSchemas(directory({ 'a.json': file }))).toThrow(message)
  })

  it('must be there, and one for each category', () => {
    expect(() => loadReviewSchemas({ reviewSchemas: '/nowhere/at/all' })).toThrow('cannot be read (ENOENT)')
    const twice = directory({ 'a.json': { category: 'x', schema }, 'b.json': { category: 'x', schema } })
    expect(() => loadReviewSchemas(twice)).toThrow('b.json: category x has another file already')
  })
})

describe('invariants', () => {
  const amount = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat({ max: 12 }))
  const write = ([units, scale]: [bigint, number]) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
    const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
    return units < 0n ? `-${text}` : text
  }
  const decimal = (text: string) => {
    const value = parseDecimal(text)
    if (!value) throw new Error(text)
    return value
  }

  it('calculate as whole numbers of the smallest unit do', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [x, y] = [decimal(write(a)), decimal(write(b))]
        const [left, right] = [a[0] * 10n ** BigInt(12 - a[1]), b[0] * 10n ** BigInt(12 - b[1])]
        expect(compare(x, y)).toBe(left < right ? -1 : left > right ? 1 : 0)
        expect(compare(add(x, y), { units: left + right, scale: 12 })).toBe(0)
        expect(compare(multiply(x, y), { units: left * right, scale: 24 })).toBe(0)
      }),
    )
  })

  it('read every number that JSON can write, and nothing else', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const { units, scale } = decimal(JSON.stringify(number))
        expect(Number(`${units}e${-scale}`)).toBe(number === 0 ? 0 : number)
      }),
    )
    for (const text of ['', '.5', '5.', '0x10', '1_000', ' 1', '1e9999', 'NaN', '1'.repeat(401)])
      expect(parseDecimal(text)).toBeUndefined()
  })

  it('do not hold for what is missing, no number, or inherited', () => {
    const equals = (path: string) => ({ name: 'n', left: path, op: '<=' as const, right: 1 })
    const content = measure('{"a":1,"b":{"c":"1"},"d":null,"e":"x","f":[0.5]}')
    expect(holds(equals('a'), content)).toBe(true)
    expect(holds(equals('b.c'), content)).toBe(true)
    expect(holds(equals('f.0'), content)).toBe(true)
    for (const path of ['z', 'd', 'e', 'b', 'a.b', 'constructor.length', 'f.length', 'a.source'])
      expect([path, holds(equals(path), content)]).toEqual([path, false])
  })
})
