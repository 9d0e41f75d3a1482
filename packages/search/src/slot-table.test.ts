import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SlotTable } from './slot-table.ts'

type Item = { category: string; cost: number }

const category = fc.constantFrom('', 'home', 'office')
const cost = fc.oneof(fc.nat(40), fc.double({ min: 0, max: 1e30, noNaN: true }))
const step = fc.oneof(
  fc.record({ what: fc.constant('take' as const), category, cost }),
  fc.record({ what: fc.constant('value' as const), at: fc.nat(), cost }),
  fc.record({ what: fc.constant('close' as const), at: fc.nat() }),
)

it('knows where all is that a question admits, whatever came and went', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.option(category, { nil: undefined }),
      fc.option(cost, { nil: undefined }),
      fc.nat(12),
      (steps, wanted, ceiling, most) => {
        const slotTable = new SlotTable()
        const there = new Map<number, Item>()
        const chosen = (at: number) => [...there.keys()][at % there.size]
        for (const each of steps) {
          if (each.what === 'take') {
            const slot = slotTable.add('key', each.category, 0.5, each.cost)
            there.set(slot, { category: each.category, cost: each.cost })
            continue
          }
          const slot = there.size === 0 ? undefined : chosen(each.at)
          const item = slot === undefined ? undefined : there.get(slot)
          if (slot === undefined || item === undefined) continue
          if (each.what === 'value') {
            slotTable.update(slot, 0.5, each.cost)
            item.cost = each.cost
          } else {
            slotTable.remove(slot)
            there.delete(slot)
          }
        }
        const admitted = [...there]
          .filter(([, item]) => wanted === undefined || item.category === wanted)
          .filter(([, item]) => ceiling === undefined || item.cost <= ceiling)
          .map(([slot]) => slot)
        const filter = slotTable.filter(wanted, ceiling)
        const slots = [...there.keys()]
        expect(slots.filter((slot) => slotTable.admits(slot, filter))).toEqual(admitted)

        const among = slotTable.among(wanted, ceiling, most)
        const ofCategory = [...there.values()].filter((item) => item.category === wanted).length
        if (wanted !== undefined && ofCategory <= most) expect(among).toBeDefined()
        if (wanted === undefined && ceiling === undefined) expect(among).toBeUndefined()
        if (among === undefined) return
        expect(among.length).toBeLessThanOrEqual(most)
        expect(new Set(among).size).toBe(among.length)
        expect([...among]).toEqual(expect.arrayContaining(admitted))
      },
    ),
  )
})

it('finds what is cheap among much that is dear', () => {
  const slotTable = new SlotTable()
  for (let i = 0; i < 1_000; i += 1) slotTable.add('key', '', 0.5, i < 50 ? i : 10_000 + i)
  expect(slotTable.among(undefined, 49, 100)).toHaveLength(50)
  expect(slotTable.among(undefined, 10_500, 100)).toBeUndefined()
})
