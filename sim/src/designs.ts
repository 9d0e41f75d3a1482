// Other ways to compute standings, to compare with the one that was chosen. All get the same spending and the same
// verified shops, and give standings in millionths.
import { MILLION, type Spending, type Standing, standingOf } from '@referrer/ranking'
import type { Design } from './standings.ts'

export const designs: { name: string; about: string; design: Design }[] = [
  { name: 'walk', about: 'the one in force: standing flows on from verified shops', design: standingOf },
  {
    name: 'share',
    about: 'an owner has the part of its money that went to verified shops; other shops have nothing',
    design: (spending) => walk(spending, { rounds: 1, passedOn: 0, mostOfOwner: 1 }),
  },
  {
    name: 'walk without limit',
    about: 'the walk, but a shop may get all of an owner’s standing instead of a tenth',
    design: (spending) => walk(spending, { rounds: 20, passedOn: 0.8, mostOfOwner: 1 }),
  },
  {
    name: 'SybilRank',
    about:
      'trust spreads from verified shops over purchases for as many steps as log₂ of the owners, then by degree',
    design: sybilRank,
  },
  {
    name: 'Advogato',
    about: 'a flow from verified shops through owners to shops, of which each can take a limited amount',
    design: advogato,
  },
]

type Steps = { rounds: number; passedOn: number; mostOfOwner: number }

/** The walk with other constants, in floating point. */
function walk(
  { first, shop, spent, isVerified }: Spending,
  { rounds, passedOn, mostOfOwner }: Steps,
): Standing {
  const owners = new Float64Array(first.length - 1)
  const shops = Float64Array.from(isVerified)
  const revenue = new Float64Array(shops.length)
  for (let at = 0; at < spent.length; at++) add(revenue, shop, at, spent[at] as number)
  for (let round = 0; round < rounds; round++) {
    const passed = new Float64Array(shops.length)
    for (let owner = 0; owner < owners.length; owner++) {
      const entries = range(first, owner)
      const all = total(entries.map((at) => spent[at] as number))
      if (all === 0) continue
      const own = entries.reduce((sum, at) => sum + (spent[at] as number) * of(shops, shop, at), 0) / all
      owners[owner] = own
      for (const at of entries) add(passed, shop, at, Math.min(spent[at] as number, mostOfOwner * all) * own)
    }
    for (let at = 0; at < shops.length; at++) {
      if (!isVerified[at])
        shops[at] =
          (revenue[at] as number) > 0 ? (passedOn * (passed[at] as number)) / (revenue[at] as number) : 0
    }
  }
  return { owners: millionths(owners), shops: millionths(shops) }
}

/**
 * Power iteration that is stopped early, on the graph of owners and shops whose edges are what was spent. What counts
 * is trust by degree, compared with what a tenth of all owners has at least.
 */
function sybilRank({ first, shop, spent, isVerified }: Spending): Standing {
  const owners = new Float64Array(first.length - 1)
  const ofOwner = owners.map((_, owner) => total(range(first, owner).map((at) => spent[at] as number)))
  const ofShop = new Float64Array(isVerified.length)
  for (let at = 0; at < spent.length; at++) add(ofShop, shop, at, spent[at] as number)
  const shops = ofShop.map((degree, at) => (isVerified[at] ? degree : 0))
  const byDegree = (trust: Float64Array, degree: Float64Array) =>
    trust.map((amount, at) => (degree[at] ? amount / (degree[at] as number) : 0))
  // A step from shops to owners and one back.
  const rounds = Math.ceil(Math.log2(owners.length + 2) / 2)
  for (let round = 0; round < rounds; round++) {
    const shares = byDegree(shops, ofShop)
    shops.fill(0)
    for (let owner = 0; owner < owners.length; owner++) {
      const entries = range(first, owner)
      owners[owner] = total(entries.map((at) => (spent[at] as number) * of(shares, shop, at)))
      for (const at of entries) {
        add(shops, shop, at, ((owners[owner] as number) * (spent[at] as number)) / (ofOwner[owner] || 1))
      }
    }
  }
  const [ownTrust, shopTrust] = [byDegree(owners, ofOwner), byDegree(shops, ofShop)]
  const most = ownTrust.toSorted().at(-Math.ceil(owners.length / 10)) || 1
  const compared = (trust: number) => Math.min(1, trust / most)
  return {
    owners: millionths(ownTrust.map(compared)),
    shops: millionths(shopTrust.map((trust, at) => (isVerified[at] ? 1 : compared(trust)))),
  }
}

/**
 * Units of trust flow from verified shops to their customers and from these to other shops. An owner takes what it
 * spent; it passes on a tenth of it. Standing is the part of what one could take that arrives.
 */
function advogato({ first, shop, spent, isVerified }: Spending): Standing {
  const count = first.length - 1
  const shops = Float64Array.from(isVerified)
  const [owners, revenue] = [new Float64Array(count), new Float64Array(shops.length)]
  for (let at = 0; at < spent.length; at++) add(revenue, shop, at, spent[at] as number)
  const left = revenue.map((amount, at) => (isVerified[at] ? amount : 0))
  const arrived = new Float64Array(shops.length)
  // Near owners are filled first, one after the other: a flow, though not always the largest one.
  for (let layer = 0; layer < 3; layer++) {
    const passed = new Float64Array(shops.length)
    for (let owner = 0; owner < count; owner++) {
      const entries = range(first, owner)
      const all = total(entries.map((at) => spent[at] as number))
      if (all === 0) continue
      let got = (owners[owner] as number) * all
      for (const at of entries) {
        const from = shop[at] as number
        const room = Math.min(all - got, spent[at] as number, left[from] as number)
        if (room <= 0) continue
        left[from] = (left[from] as number) - room
        got += room
      }
      owners[owner] = got / all
      for (const at of entries) {
        if (!isVerified[shop[at] as number]) add(passed, shop, at, Math.min(spent[at] as number, got / 10))
      }
    }
    for (let at = 0; at < shops.length; at++) {
      if (isVerified[at]) continue
      const amount = Math.min(revenue[at] as number, passed[at] as number) * 0.8
      left[at] = Math.max(0, amount - (arrived[at] as number))
      arrived[at] = Math.max(amount, arrived[at] as number)
      shops[at] = (revenue[at] as number) > 0 ? (arrived[at] as number) / (revenue[at] as number) : 0
    }
  }
  return { owners: millionths(owners), shops: millionths(shops) }
}

const range = (first: Int32Array, owner: number): number[] => {
  const [begin, end] = [first[owner] as number, first[owner + 1] as number]
  return Array.from({ length: end - begin }, (_, at) => begin + at)
}
const of = (values: Float64Array, shop: Int32Array, at: number) => values[shop[at] as number] as number
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const add = (sums: Float64Array, shop: Int32Array, at: number, amount: number) => {
  sums[shop[at] as number] = of(sums, shop, at) + amount
}
const millionths = (values: Float64Array) =>
  Int32Array.from(values, (value) => Math.floor(value * MILLION + 1e-6))
