import fc from 'fast-check'
import {
  type AbiEvent,
  type AbiParameter,
  decodeEventLog,
  encodeAbiParameters,
  type Hex,
  keccak256,
  stringToHex,
  toEventSelector,
  toHex,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { compileEvent } from './event-decoder.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((b) => toHex(b))
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })

const int = (bits: number) => fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n })

const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  address: bytes(20),
  bool: fc.boolean(),
  string: fc.string({ unit: 'grapheme', maxLength: 100 }),
  bytes: fc.uint8Array({ maxLength: 100 }).map((b) => toHex(b)),
  bytes4: bytes(4),
  bytes32: bytes(32),
  uint8: uint(8).map(Number),
  uint16: uint(16).map(Number),
  uint48: uint(48).map(Number),
  uint64: uint(64),
  uint256: uint(256),
  int24: int(24).map(Number),
  int128: int(128),
  int256: int(256),
}

const argument = fc
  .tuple(fc.constantFrom(...Object.keys(VALUES)), fc.boolean())
  .chain(([type, indexed]) =>
    (VALUES[type] as fc.Arbitrary<unknown>).map((value) => ({ type, indexed, value })),
  )

const isText = (type: string) => type === 'string' || type === 'bytes'

function topicOf(type: string, value: unknown): Hex {
  if (type === 'string') return keccak256(stringToHex(value as string))
  if (type === 'bytes') return keccak256(value as Hex)
  return encodeAbiParameters([{ type }], [value])
}

describe('a compiled event', () => {
  test('reads every argument as viem does', () => {
    const log = fc.array(argument, { maxLength: 10 }).map((drawn) => {
      let topicsLeft = 3
      const inputs = drawn.map(({ type, indexed, value }, at) => {
        const isIndexed = indexed && topicsLeft-- > 0
        return { name: `a${at}`, type, indexed: isIndexed, value }
      })
      const event = { type: 'event', name: 'Drawn', inputs } as unknown as AbiEvent
      const plain = inputs.filter(({ indexed }) => !indexed)
      const topics = inputs.filter(({ indexed }) => indexed).map(({ type, value }) => topicOf(type, value))
      const data = encodeAbiParameters(
        plain as AbiParameter[],
        plain.map(({ value }) => value),
      )
      return { event, topics: [toEventSelector(event), ...topics] as [Hex, ...Hex[]], data, inputs }
    })
    fc.assert(
      fc.property(log, ({ event, topics, data, inputs }) => {
        const { args } = decodeEventLog({ abi: [event], topics, data }) as { args: Record<string, unknown> }
        const lowered = Object.fromEntries(
          inputs.map(({ name, type, indexed }) => {
            const value = args?.[name]
            return [
              name,
              type === 'address' || (indexed && isText(type)) ? String(value).toLowerCase() : value,
            ]
          }),
        )
        expect(compileEvent(event)({ topics, data })).toEqual(lowered)
      }),
      { numRuns: 500 },
    )
  })

  const event: AbiEvent = {
    type: 'event',
    name: 'Said',
    inputs: [
      { name: 'who', type: 'address', indexed: true },
      { name: 'text', type: 'string', indexed: false },
    ],
  }
  const topics: [Hex, ...Hex[]] = [toEventSelector(event), `0x${'00'.repeat(12)}${'11'.repeat(20)}`]
  const data = encodeAbiParameters([{ type: 'string' }], ['hello'])

  test.each([
    ['of another event', { topics: [keccak256('0x'), ...topics.slice(1)] as Hex[], data }],
    ['with a topic missing', { topics: topics.slice(0, 1), data }],
    ['with no data', { topics, data: '0x' as Hex }],
    ['whose text ends too early', { topics, data: data.slice(0, -64) as Hex }],
    ['whose text starts outside', { topics, data: `0x${'ff'.repeat(32)}${data.slice(66)}` as Hex }],
  ])('refuses a log %s', (_, log) => {
    expect(() => compileEvent(event)(log)).toThrow(/log/)
  })

  test('refuses a type that it does not know when it is compiled, not when a log comes', () => {
    const odd: AbiEvent = {
      type: 'event',
      name: 'Odd',
      inputs: [{ name: 'a', type: 'uint8[]', indexed: false }],
    }
    expect(() => compileEvent(odd)).toThrow('Odd')
  })
})
