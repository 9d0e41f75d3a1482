import { Recovery } from '@referrer/protocol'
import fc from 'fast-check'
import { bytesToHex, getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { address, hex, time, timeInSeconds, whole } from './json-values.ts'

describe('how values look in JSON', () => {
  it('writes a whole number exactly, whatever its size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }), (value) => {
        expect(JSON.stringify({ value: whole(value) })).toBe(`{"value":${value}}`)
      }),
    )
    expect(whole(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER)
    expect(JSON.stringify([whole(2n ** 53n), whole(2n ** 53n + 1n)])).toBe(
      '[9007199254740992,9007199254740993]',
    )
  })

  it('writes a moment in UTC, with a fraction only when there is one', () => {
    expect(time(new Date('2026-01-02T03:04:05+01:00'))).toBe('2026-01-02T02:04:05Z')
    expect(time(new Date('2026-01-02T03:04:05.120Z'))).toBe('2026-01-02T03:04:05.120Z')
  })

  it('leaves a fraction away where whole seconds are promised, and does not round up', () => {
    expect(timeInSeconds(new Date('2026-01-02T03:04:05.999Z'))).toBe('2026-01-02T03:04:05Z')
  })

  it('writes bytes with their prefix and all their zeros', () => {
    expect(hex(Buffer.from([0, 0, 255]))).toBe('0x0000ff')
    expect(hex(Buffer.alloc(0))).toBe('0x')
  })

  it('writes an address with the checksum of EIP-55', async () => {
    const recovery = await Recovery.load()
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        expect(address(recovery, Buffer.from(bytes))).toBe(getAddress(bytesToHex(bytes)))
      }),
    )
  })
})
