import { describe, expect, it } from 'vitest'
import { type Dealings, ringsIn } from './rings.ts'

/** A market of owners who vote and spend; shops of the list `unverified` are not verified. */
function createMarket(owners: number, unverified: readonly number[]) {
  const cast = new Int32Array(owners)
  const got = new Int32Array(owners)
  const spent = new Float64Array(owners)
  const votes = new Map<string, [voter: number, author: number, shop: number, count: number, last: number]>()
  const spending = new Map<string, [owner: number, shop: number, spent: number]>()
  let seconds = 1_000
  return {
    /** One purchase and one vote. */
    vote(voter: number, author: number, shop: number): void {
      seconds++
      cast[voter] = (cast[voter] ?? 0) + 1
      got[author] = (got[author] ?? 0) + 1
      spent[voter] = (spent[voter] ?? 0) + 10
      if (!unverified.includes(shop)) return
      const key = `${voter} ${author} ${shop}`
      const row = votes.get(key) ?? [voter, author, shop, 0, seconds]
      votes.set(key, [voter, author, shop, row[3] + 1, seconds])
      const paid = spending.get(`${voter} ${shop}`)?.[2] ?? 0
      spending.set(`${voter} ${shop}`, [voter, shop, paid + 10])
    },
    dealings(): Dealings {
      const [rows, entries] = [[...votes.values()], [...spending.values()]]
      return {
        owners: { standing: new Int32Array(owners).fill(300_000), cast, got, spent },
        allVotes: cast.reduce((sum, each) => sum + each, 0),
        votes: {
          voter: Int32Array.from(rows, ([voter]) => voter),
          author: Int32Array.from(rows, ([, author]) => author),
          shop: Int32Array.from(rows, ([, , shop]) => shop),
          count: Int32Array.from(rows, ([, , , count]) => count),
          first: Float64Array.from(rows, ([, , , , last]) => last),
          last: Float64Array.from(rows, ([, , , , last]) => last),
        },
        spending: {
          owner: Int32Array.from(entries, ([owner]) => owner),
          shop: Int32Array.from(entries, ([, shop]) => shop),
          spent: Float64Array.from(entries, ([, , amount]) => amount),
        },
      }
    },
  }
}

type Market = ReturnType<typeof createMarket>

/** Owners from 0 on, who vote for anybody at any of the shops from 0 on, the same way each time. */
function actHonestly(market: Market, owners: number, shops: number, votes = 12): void {
  let state = 7
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
  for (let owner = 0; owner < owners; owner++) {
    for (let vote = 0; vote < votes; vote++)
      market.vote(owner, (owner + 1 + below(owners - 1)) % owners, below(shops))
  }
}

/** Each votes for each other one at a shop. */
function collude(market: Market, members: readonly number[], shop: number, times = 1): void {
  for (const voter of members) {
    for (const author of members) {
      for (let vote = 0; vote < times; vote++) if (voter !== author) market.vote(voter, author, shop)
    }
  }
}

const membersOf = (market: Market) =>
  ringsIn(market.dealings()).map((ring) => ring.members.map(({ owner }) => owner))

describe('rings', () => {
  it('are owners who vote for each other at a shop that is not verified, with their evidence', () => {
    const market = createMarket(60, [9])
    actHonestly(market, 50, 9)
    const members = [50, 51, 52, 53]
    collude(market, members, 9, 2)
    market.vote(50, 3, 1)
    const [ring, ...others] = ringsIn(market.dealings())
    expect(others).toEqual([])
    expect(ring).toEqual({
      members: members.map((owner) => ({ owner, cast: 6, got: 6 })),
      shops: [{ shop: 9, votes: 24, spent: 240 }],
      votes: { inside: 24, all: 25, first: expect.any(Number), last: expect.any(Number) },
      spent: { inside: 240, all: 250 },
      standing: 300_000,
    })
    expect(ring?.votes.first).toBeLessThan(ring?.votes.last ?? 0)
  })

  it('are not found at verified shops', () => {
    const market = createMarket(60, [])
    actHonestly(market, 50, 9)
    collude(market, [50, 51, 52, 53], 9, 2)
    expect(membersOf(market)).toEqual([])
  })

  it('are told apart, also when they use the same shop, the largest first', () => {
    const market = createMarket(80, [9])
    actHonestly(market, 50, 9)
    const [small, large] = [
      [50, 51, 52],
      [60, 61, 62, 63, 64, 65],
    ]
    collude(market, small ?? [], 9, 3)
    collude(market, large ?? [], 9, 2)
    expect(membersOf(market)).toEqual([large, small])
  })

  it('are not the honest of a market in which nobody is verified yet', () => {
    const market = createMarket(100, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    actHonestly(market, 90, 9, 20)
    expect(membersOf(market)).toEqual([])
    collude(market, [90, 91, 92, 93, 94], 9, 4)
    expect(membersOf(market)).toEqual([[90, 91, 92, 93, 94]])
  })

  it('are not the regular customers of a small shop who mostly buy elsewhere', () => {
    const market = createMarket(60, [9])
    actHonestly(market, 60, 9, 12)
    collude(market, [50, 51, 52], 9)
    expect(membersOf(market)).toEqual([])
  })

  it('are also those who praise one author that never buys', () => {
    const market = createMarket(60, [9])
    actHonestly(market, 50, 9)
    for (const voter of [50, 51, 52, 53]) for (let vote = 0; vote < 4; vote++) market.vote(voter, 54, 9)
    expect(membersOf(market)).toEqual([[50, 51, 52, 53, 54]])
  })

  it('are neither an author nor a voter whom they praise and who has others', () => {
    const market = createMarket(60, [9])
    actHonestly(market, 50, 9)
    collude(market, [50, 51, 52, 53], 9, 3)
    for (const voter of [50, 51, 52, 53]) for (const author of [54, 55]) market.vote(voter, author, 9)
    for (let honest = 0; honest < 20; honest++) market.vote(honest, 54, 1)
    for (let honest = 0; honest < 20; honest++) market.vote(55, honest, 1)
    expect(membersOf(market)).toEqual([[50, 51, 52, 53]])
  })

  it('spend much of their money where they vote', () => {
    const market = createMarket(60, [9])
    actHonestly(market, 50, 9)
    collude(market, [50, 51, 52, 53], 9, 2)
    const dealings = market.dealings()
    for (const owner of [50, 51, 52, 53]) dealings.owners.spent[owner] = 1_000
    expect(ringsIn(dealings)).toEqual([])
  })
})
