import { int, seeded, seedOf } from '@referrer/chain/testing'
import { expect, test } from 'vitest'
import { gasLimit, mostGas, usedEach } from './gas.ts'
import type { Order } from './order.ts'

const LATER = 90_000n
const seed = seedOf()

/** A purchase whose trial used so much, and whose call has so many bytes. */
const purchase = (gas: number, size: number) => ({
  order: { data: `0x${'ff'.repeat(size)}` } as unknown as Order,
  gas: BigInt(gas),
})

test(`what each purchase holds is together all that their transaction can use, and what comes later (SEED=${seed})`, () => {
  const random = seeded(seed)
  for (let run = 0; run < 200; run += 1) {
    const tried = Array.from({ length: int(random, 1, 64) }, () =>
      purchase(int(random, 80_000, 229_999), int(random, 700, 1_500)),
    )
    // The call of a batch has the calls of each in it, and little else.
    const size = tried.reduce((sum, { order }) => sum + order.data.length / 2 - 1, 64)
    const held = tried.reduce((sum, each) => sum + mostGas(each, tried.length > 1), 0n)
    const limit = gasLimit(tried, `0x${'ff'.repeat(tried.length === 1 ? size - 64 : size)}`)
    expect(held).toBeGreaterThanOrEqual(limit + LATER * BigInt(tried.length))
  }
})

test(`what each purchase has used is together what their transaction used, however they ended (SEED=${seed})`, () => {
  const random = seeded(seed)
  for (let run = 0; run < 500; run += 1) {
    const [settled, failed] = [int(random, 0, 64), int(random, 0, 64)]
    if (settled + failed === 0) continue
    const states = ['settled', 'failed'] as const
    const endings = states.flatMap((state, at) =>
      Array.from({ length: [settled, failed][at] as number }, () => ({ state })),
    )
    const gasUsed = BigInt(int(random, 21_000, 16_000_000))
    const used = usedEach(gasUsed, endings)
    const counted = used.settled * BigInt(settled) + used.failed * BigInt(failed)
    expect(counted).toBeGreaterThanOrEqual(gasUsed + LATER * BigInt(settled))
  }
})

test('no failed purchase answers for gas that those beside it burned', () => {
  const endings = [
    { state: 'failed' },
    ...Array.from({ length: 31 }, () => ({ state: 'settled' as const })),
  ] as const
  const { failed } = usedEach(8_000_000n, [...endings])
  expect(failed).toBeLessThanOrEqual(mostGas(purchase(105_000, 900), true))
})
