import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { createCredit } from './credit.ts'

const clock = { ms: 0 }
const start = () => createCredit(() => clock.ms)
const wallet = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const MINUTE = 60_000

describe('a payer whose payment failed in its block by its own doing', () => {
  test('waits ten minutes, and nobody else does', () => {
    const credit = start()
    credit.blame(wallet(1), false)
    expect(credit.take(wallet(1), false)).toMatch(/failed in its block/)
    expect(credit.take(wallet(2), false)).toBeUndefined()
    clock.ms += 10 * MINUTE
    expect(credit.take(wallet(1), false)).toBeUndefined()
  })
})

describe('a wallet with code', () => {
  test('has eight payments under way at most', () => {
    const credit = start()
    for (let sent = 0; sent < 8; sent += 1) expect(credit.take(wallet(1), true)).toBeUndefined()
    expect(credit.take(wallet(1), true)).toMatch(/of this wallet are under way/)
    credit.giveBack(wallet(1), true, false)
    expect(credit.take(wallet(1), true)).toBeUndefined()
  })

  test('that is new here shares 32 an hour with all others that are, of those that fail', () => {
    const credit = start()
    for (let number = 0; number < 32; number += 1) {
      expect(credit.take(wallet(number), true)).toBeUndefined()
      credit.giveBack(wallet(number), true, false)
      credit.blame(wallet(number), true)
    }
    expect(credit.take(wallet(99), true)).toMatch(/new here/)
    expect(credit.take(wallet(99), false)).toBeUndefined()
    clock.ms += 61 * MINUTE
    expect(credit.take(wallet(99), true)).toBeUndefined()
  })

  test('that has settled is not held up by strangers, until it fails itself', () => {
    const credit = start()
    const [old, other] = [wallet(1_000), wallet(1_001)]
    credit.take(old, true)
    credit.giveBack(old, true, true)
    for (let number = 0; number < 32; number += 1) credit.take(wallet(number), true)
    expect(credit.take(other, true)).toMatch(/new here/)
    expect(credit.take(old, true)).toBeUndefined()
    credit.giveBack(old, true, false)
    credit.blame(old, true)
    clock.ms += 11 * MINUTE
    expect(credit.take(old, true)).toMatch(/new here/)
  })
})
