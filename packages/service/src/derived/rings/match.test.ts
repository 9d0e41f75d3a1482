import { describe, expect, it } from 'vitest'
import { type Known, matchRings } from './match.ts'

const ring = (ringId: bigint, members: number, more: Partial<Known> = {}): Known => ({
  ringId,
  members,
  isDismissed: false,
  membersThen: null,
  ...more,
})
const dismissed = (ringId: bigint, members: number) =>
  ring(ringId, members, { isDismissed: true, membersThen: members })
const isNew = { ringId: null, isDismissed: false }
const isOpen = (ringId: bigint) => ({ ringId, isDismissed: false })

describe('a found ring', () => {
  it('is the known one with which it shares more than half of the smaller one', () => {
    const known = [ring(1n, 4), ring(2n, 10)]
    expect(matchRings([5], known, [{ found: 0, ringId: 1n, members: 3 }])).toEqual([isOpen(1n)])
    expect(matchRings([5], known, [{ found: 0, ringId: 1n, members: 2 }])).toEqual([isNew])
    expect(matchRings([5], known, [])).toEqual([isNew])
    const both = [
      { found: 0, ringId: 1n, members: 3 },
      { found: 0, ringId: 2n, members: 6 },
    ]
    expect(matchRings([12], known, both)).toEqual([isOpen(2n)])
  })

  it('stays dismissed until it has grown by half', () => {
    for (const [size, isDismissed] of [
      [4, true],
      [5, true],
      [6, false],
    ] as const) {
      const shared = [{ found: 0, ringId: 1n, members: 4 }]
      expect(matchRings([size], [dismissed(1n, 4)], shared)).toEqual([{ ringId: 1n, isDismissed }])
    }
  })

  it('that is the smaller part of a known one is new, but not if that one is dismissed', () => {
    const shared = [
      { found: 0, ringId: 1n, members: 5 },
      { found: 1, ringId: 1n, members: 3 },
    ]
    expect(matchRings([5, 3], [ring(1n, 8)], shared)).toEqual([isOpen(1n), isNew])
    expect(matchRings([5, 3], [dismissed(1n, 8)], shared)).toEqual([
      { ringId: 1n, isDismissed: true },
      'left out',
    ])
  })
})
