import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { bytesToHex, type Hex, hexToBytes, keccak256, numberToHex } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../../test/hostile.ts'
import { DEV_KEY, dev } from '../../test/keys.ts'
import { candidates as portable } from './candidates.ts'
import * as Recovery from './index.ts'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2)
const join = (r: bigint, s: bigint, v: number): Hex =>
  `0x${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}`

const hash32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const privateKey = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }).map((key) => numberToHex(key, { size: 32 }))

let all: Recovery.Recovery[]

beforeAll(async () => {
  const names = (await hasAddon()) ? (['native', 'wasm', 'viem'] as const) : (['wasm', 'viem'] as const)
  all = await Promise.all(names.map((name) => Recovery.load(name)))
})

async function hasAddon() {
  try {
    createRequire(import.meta.url)('secp256k1/bindings.js')
    return true
  } catch {
    return false
  }
}

/** What each implementation says, as one set: an address or an error code. More than one entry is a disagreement. */
async function verdicts(hash: Uint8Array, signature: unknown) {
  const outcomes = all.map(({ recoverAddress }) => codeOf(() => recoverAddress(hash, signature)))
  return new Set((await Promise.all(outcomes)).map((outcome) => JSON.stringify(outcome)))
}

describe('recovery', () => {
  test('uses the native addon where it is built, WebAssembly otherwise, and says which', async () => {
    const { implementation } = await Recovery.load()
    expect(implementation).toBe((await hasAddon()) ? 'native' : 'wasm')
    expectTypeOf(implementation).toEqualTypeOf<'native' | 'wasm' | 'viem'>()
  })

  test('loads an implementation once', () => {
    expect(Recovery.load('wasm')).toBe(Recovery.load('wasm'))
  })

  test('says so when the implementation asked for does not run here', async () => {
    expect(await codeOf(() => Recovery.load('abacus' as 'native'))).toBe('recovery_unavailable')
  })

  test('every implementation names the signer of any hash and key', async () => {
    await fc.assert(
      fc.asyncProperty(hash32, privateKey, async (hash, key) => {
        const signature = await sign({ hash: bytesToHex(hash), privateKey: key, to: 'hex' })
        const expected = JSON.stringify({ returned: privateKeyToAccount(key).address })
        expect(await verdicts(hash, signature)).toEqual(new Set([expected]))
      }),
      { numRuns: 25 },
    )
  })

  test('every implementation says the same of arbitrary r, s and v, on or off the curve', async () => {
    const scalar = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.bigInt({ min: 0n, max: 20n }),
      fc.bigInt({ min: CURVE_ORDER / 2n - 2n, max: CURVE_ORDER / 2n + 2n }),
      fc.bigInt({ min: CURVE_ORDER - 2n, max: CURVE_ORDER + 2n }),
    )
    const edge = fc
      .constantFrom(0n, 1n, CURVE_ORDER - 1n, CURVE_ORDER, 2n ** 256n - 1n)
      .map((value) => hexToBytes(`0x${word(value)}`))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(hash32, edge),
        scalar,
        scalar,
        fc.constantFrom(0, 1, 2, 26, 27, 28, 29, 255),
        async (hash, r, s, v) => {
          expect((await verdicts(hash, join(r, s, v))).size).toBe(1)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('every keccak gives the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        for (const implementation of all)
          expect(implementation.keccak256(bytes)).toEqual(keccak256(bytes, 'bytes'))
      }),
    )
  })

  test('refuses a hash that is not 32 bytes', async () => {
    const signature = await sign({ hash: keccak256('0x'), privateKey: DEV_KEY, to: 'hex' })
    for (const length of [0, 31, 33]) {
      expect(await verdicts(new Uint8Array(length), signature)).toEqual(new Set(['"invalid_hash"']))
    }
  })

  test('answers hostile signatures with an address or a ProtocolError', async () => {
    const hash = hexToBytes(keccak256('0x'))
    const signature = await sign({ hash: bytesToHex(hash), privateKey: DEV_KEY, to: 'hex' })
    const recovery = await Recovery.load()
    await expectOnlyProtocolErrors(hostileText(signature), (text) => recovery.recoverAddress(hash, text))
  })
})

describe('signature encoding', () => {
  const hash = hexToBytes(keccak256('0x1234'))
  const signed = async () => {
    const { r, s, yParity = 0 } = await sign({ hash: bytesToHex(hash), privateKey: DEV_KEY })
    return { r, s, yParity }
  }

  test('takes v as 27/28 and as 0/1', async () => {
    const { r, s, yParity } = await signed()
    for (const v of [yParity, yParity + 27]) {
      expect(await verdicts(hash, join(BigInt(r), BigInt(s), v))).toEqual(
        new Set([JSON.stringify({ returned: dev.address })]),
      )
    }
  })

  test('refuses the high-s twin of a good signature [AUTH-21]', async () => {
    const { r, s, yParity } = await signed()
    const twin = join(BigInt(r), CURVE_ORDER - BigInt(s), (yParity ^ 1) + 27)
    expect(await verdicts(hash, twin)).toEqual(new Set(['"unrecoverable_signature"']))
  })

  test.each([
    ['v of 29', (r: bigint, s: bigint) => join(r, s, 29)],
    ['r of zero', (_: bigint, s: bigint) => join(0n, s, 27)],
    ['s of zero', (r: bigint) => join(r, 0n, 27)],
    ['r at the curve order', (_: bigint, s: bigint) => join(CURVE_ORDER, s, 27)],
    ['s at the curve order', (r: bigint) => join(r, CURVE_ORDER, 27)],
  ])('refuses %s', async (_, alter) => {
    const { r, s } = await signed()
    expect(await verdicts(hash, alter(BigInt(r), BigInt(s)))).toEqual(new Set(['"unrecoverable_signature"']))
  })

  test('refuses what is not 0x and 65 bytes of hex [AUTH-21]', async () => {
    const { r, s, yParity } = await signed()
    const good = join(BigInt(r), BigInt(s), yParity + 27)
    for (const text of [
      good.slice(2),
      good.slice(0, -2),
      `${good}00`,
      good.replace('0x', '0X'),
      `${good.slice(0, -1)}g`,
      '0x',
      '',
      null,
    ]) {
      expect(await verdicts(hash, text)).toEqual(new Set(['"malformed_signature"']))
    }
  })
})

describe('browser safety', () => {
  test('the default candidates leave the native addon out', () => {
    expect(portable.map(({ implementation }) => implementation)).toEqual(['wasm', 'viem'])
  })

  test('only files named .node.ts touch Node', () => {
    const root = new URL('..', import.meta.url)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const portableFiles = files.filter((name) => name.endsWith('.ts') && !/\.(?:test|node)\.ts$/.test(name))
    expect(portableFiles.length).toBeGreaterThan(20)
    for (const name of portableFiles) {
      const source = readFileSync(new URL(name, root), 'utf8')
      expect(source, name).not.toMatch(/\bBuffer\b|from 'node:|\bprocess\.|\brequire\(|\.node\.ts'/)
    }
  })
})
