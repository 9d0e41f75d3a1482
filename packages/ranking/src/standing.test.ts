import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MILLION } from './rank.ts'
import { type Spending, type Standing, standingOf } from './standing.ts'

/** What an owner spent at a shop. */
type Entry = { owner: number; shop: number; spent: number }
type Market = { owners: number; verified: boolean[]; entries: Entry[] }

function spendingOf({ owners, verified, entries }: Market): Spending {
  const sorted = entries.toSorted((a, b) => a.owner - b.owner || a.shop - b.shop)
  const first = Int32Array.from({ length: owners + 1 }, (_, owner) => {
    const at = sorted.findIndex((entry) => entry.owner >= owner)
    return at === -1 ? sorted.length : at
  })
  return {
    first,
    shop: Int32Array.from(sorted, ({ shop }) => shop),
    spent: Float64Array.from(sorted, ({ spent }) => spent),
    isVerified: Uint8Array.from(verified, Number),
  }
}

const standing = (market: Market): Standing => standingOf(spendingOf(market))

/** Each step rounds down, so that two ways of counting the same differ by a little. */
const ROUNDING = 200

const OWNERS = 8
const SHOPS = 6
const entry = fc.record({
  owner: fc.nat(OWNERS - 1),
  shop: fc.nat(SHOPS - 1),
  spent: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 2 ** 33 })),
})
const market: fc.Arbitrary<Market> = fc.record({
  owners: fc.constant(OWNERS),
  verified: fc.array(fc.boolean(), { minLength: SHOPS, maxLength: SHOPS }),
  entries: fc.uniqueArray(entry, {
    selector: ({ owner, shop }) => `${owner}/${shop}`,
    maxLength: OWNERS * SHOPS,
  }),
})

describe('standing', () => {
  it('is 1 at a verified shop, and that of an owner is the part of its money that went there', () => {
    const { owners, shops } = standing({
      owners: 2,
      verified: [true, false],
      entries: [
        { owner: 0, shop: 0, spent: 300_000_000 },
        { owner: 0, shop: 1, spent: 100_000_000 },
        { owner: 1, shop: 1, spent: 100_000_000 },
      ],
    })
    expect(shops[0]).toBe(MILLION)
    // Shop 1 gets four fifths of what its customers have, of each at most a tenth of its spending: of 200 million 40 by
    // owner 0, whose standing is 0.75 and a quarter of that of the shop, and 10 by owner 1, whose standing is the shop's.
    const shop = (0.8 * (40 * 0.75)) / (200 - 0.8 * (40 * 0.25 + 10))
    expect((shops[1] ?? 0) / MILLION).toBeCloseTo(shop, 5)
    expect((owners[0] ?? 0) / MILLION).toBeCloseTo(0.75 + shop / 4, 5)
    expect((owners[1] ?? 0) / MILLION).toBeCloseTo(shop, 5)
  })

  it('lies between 0 and 1, and is the same for the same spending in another order', () => {
    fc.assert(
      fc.property(market, (one) => {
        const { owners, shops } = standing(one)
        for (const value of [...owners, ...shops]) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(MILLION)
        }
        expect(standing({ ...one, entries: one.entries.toReversed() })).toEqual({ owners, shops })
      }),
    )
  })

  it('is nothing in a region that no money enters or leaves', () => {
    // Owners and shops from 4 on are the region: none of its shops is verified, and nobody buys across the border.
    const isInside = ({ owner, shop }: Entry) => owner >= 4 && shop >= 4
    const isOutside = ({ owner, shop }: Entry) => owner < 4 && shop < 4
    fc.assert(
      fc.property(market, (one) => {
        const { owners, shops } = standing({
          ...one,
          verified: one.verified.map((yes, shop) => yes && shop < 4),
          entries: one.entries.filter((entry) => isInside(entry) || isOutside(entry)),
        })
        expect([...owners.slice(4), ...shops.slice(4)].every((value) => value === 0)).toBe(true)
      }),
    )
  })

  it('of a region whose owners buy outside is bounded by what they paid there', () => {
    fc.assert(
      fc.property(market, (one) => {
        // Nobody else buys at the shops of the region.
        const entries = one.entries.filter(({ owner, shop }) => shop < 4 || owner >= 4)
        const verified = one.verified.map((yes, shop) => yes && shop < 4)
        const { shops } = standing({ ...one, verified, entries })
        const sum = (of: Entry[], value: (entry: Entry) => number) =>
          of.reduce((total, entry) => total + value(entry), 0)
        const paid = sum(
          entries.filter(({ owner, shop }) => owner >= 4 && shop < 4),
          ({ shop, spent }) => ((shops[shop] ?? 0) / MILLION) * spent,
        )
        const inside = sum(
          entries.filter(({ shop }) => shop >= 4),
          ({ shop, spent }) => ((shops[shop] ?? 0) / MILLION) * spent,
        )
        // Standing × spending of the region's own shops: four fifths at each step, 0.8 / (1 − 0.8).
        expect(inside).toBeLessThanOrEqual(4 * paid + 1)
      }),
    )
  })

  it('of a shop has from an owner at most what it spent there and a tenth of what it spent well, over however many wallets', () => {
    const split = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: SHOPS, maxLength: SHOPS })
    fc.assert(
      fc.property(market, split, (one, parts) => {
        const moved = one.entries.flatMap((entry): Entry[] => {
          if (entry.owner !== 0) return [entry]
          const spent = Math.floor(entry.spent * (parts[entry.shop] ?? 0))
          return [
            { ...entry, spent: entry.spent - spent },
            { ...entry, owner: OWNERS, spent },
          ].filter((part) => part.spent > 0)
        })
        const { owners, shops } = standing({ ...one, owners: OWNERS + 1, entries: moved })
        const sum = (entries: readonly Entry[], of: (entry: Entry) => number) =>
          entries.reduce((all, entry) => all + of(entry), 0)
        const byPerson = [...Map.groupBy(moved, ({ owner }) => owner % OWNERS).values()]
        for (const [shop, value] of shops.entries()) {
          if (one.verified[shop]) continue
          const at = (entries: readonly Entry[]) => entries.filter((entry) => entry.shop === shop)
          const most = byPerson.map((own) => {
            const well = sum(own, ({ owner, spent }) => (spent * (owners[owner] ?? 0)) / MILLION)
            const there = sum(at(own), ({ spent }) => spent)
            return Math.min(there, well / 10)
          })
          const revenue = sum(at(moved), ({ spent }) => spent)
          const bound = 0.8 * most.reduce((all, part) => all + part, 0)
          expect((value * revenue) / MILLION).toBeLessThanOrEqual(bound * (1 + 1e-9))
        }
      }),
    )
  })

  it('does not fall when an owner spends more at a verified shop', () => {
    fc.assert(
      fc.property(market, fc.nat(OWNERS - 1), fc.integer({ min: 1, max: 1_000 }), (one, owner, spent) => {
        const shop = one.verified.indexOf(true)
        if (shop === -1) return
        const more = one.entries.filter((entry) => entry.owner !== owner || entry.shop !== shop)
        const known = one.entries.find((entry) => entry.owner === owner && entry.shop === shop)?.spent ?? 0
        const before = standing(one).owners[owner] ?? 0
        const after = standing({ ...one, entries: [...more, { owner, shop, spent: known + spent }] })
        expect(after.owners[owner]).toBeGreaterThanOrEqual(before - ROUNDING)
      }),
    )
  })
})
