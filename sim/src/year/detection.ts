// How well rings are found: the detector of the service looks at the simulated market, and what it finds is compared
// with who colludes.
import { type Dealings, dayOf, inflate, inflationOf, type Ring, ringsIn, spendingOf } from '@referrer/ranking'
import type { Market } from '../market.ts'
import type { Merchant, Owner } from '../records.ts'
import { table } from '../table.ts'
import type { World } from './world.ts'

export type Found = Ring & { owners: Owner[]; merchants: Merchant[] }

export type Detection = {
  /** Agents: of those found, the part that colludes; of those who collude, the part that is found. */
  precision: number
  recall: number
  bySize: { size: number; rings: number; agents: number; found: number }[]
  /** Honest agents that are found. */
  wrong: number
  /** Honest agents whose owners spent a quarter or more at shops that are not verified: the nearest to a ring. */
  near: { agents: number; found: number }
  rings: Found[]
}

export function detect({ market, honest, rings, ringOf }: World): Detection {
  const owners = new Numbers<Owner>()
  const shops = new Numbers<Merchant>()
  const dealings = dealingsOf(market, owners, shops)
  const found = ringsIn(dealings).map((ring) => ({
    ...ring,
    owners: ring.members.map(({ owner }) => owners.all[owner] as Owner),
    merchants: ring.shops.map(({ shop }) => shops.all[shop] as Merchant),
  }))
  const suspects = new Set(found.flatMap(({ owners }) => owners))
  const isFound = ({ owner }: { owner: Owner }) => suspects.has(owner)
  const right = [...ringOf.keys()].filter(isFound).length
  const wrong = honest.filter(isFound).length
  const unverified = unverifiedShares(dealings)
  const near = honest.filter(({ owner }) => (unverified[owners.of(owner)] ?? 0) >= NEAR)
  const sizes = [...new Set(rings.map(({ members }) => members.length))].sort((a, b) => a - b)
  return {
    precision: right + wrong > 0 ? right / (right + wrong) : 1,
    recall: right / ringOf.size,
    bySize: sizes.map((size) => {
      const same = rings.filter(({ members }) => members.length === size)
      const members = same.flatMap((ring) => ring.members)
      return { size, rings: same.length, agents: members.length, found: members.filter(isFound).length }
    }),
    wrong,
    near: { agents: near.length, found: near.filter(isFound).length },
    rings: found,
  }
}

const NEAR = 0.25

/** The part of its money that each owner spent at shops that are not verified. */
function unverifiedShares({ owners, spending }: Dealings): Float64Array {
  const sums = new Float64Array(owners.spent.length)
  for (const [row, owner] of spending.owner.entries()) {
    sums[owner] = (sums[owner] ?? 0) + (spending.spent[row] ?? 0)
  }
  return sums.map((sum, owner) => sum / (owners.spent[owner] || 1))
}

/** Gives numbers from 0 on. */
class Numbers<T> {
  readonly all: T[] = []
  readonly #numbers = new Map<T, number>()

  of(value: T): number {
    const number = this.#numbers.get(value) ?? this.all.push(value) - 1
    this.#numbers.set(value, number)
    return number
  }
}

type Row = { voter: number; author: number; shop: number; count: number; first: number; last: number }

function dealingsOf(market: Market, owners: Numbers<Owner>, shops: Numbers<Merchant>): Dealings {
  const [cast, got, spent] = [new Map<number, number>(), new Map<number, number>(), new Map<number, bigint>()]
  const votes = new Map<string, Row>()
  for (const event of market.events) {
    if (event.what !== 'voted') continue
    for (const { voterOwner, review, purchase, qualifies } of event.votes) {
      if (!qualifies) continue
      const [voter, author] = [owners.of(voterOwner), owners.of(review.owner)]
      cast.set(voter, (cast.get(voter) ?? 0) + 1)
      got.set(author, (got.get(author) ?? 0) + 1)
      const { merchant } = purchase.product
      if (market.standings.isVerified(merchant)) continue
      const shop = shops.of(merchant)
      const at = Math.floor(event.at / 1_000)
      const row = votes.get(`${voter} ${author} ${shop}`) ?? {
        voter,
        author,
        shop,
        count: 0,
        first: at,
        last: at,
      }
      votes.set(`${voter} ${author} ${shop}`, { ...row, count: row.count + 1, last: at })
    }
  }
  const spending = new Map<string, { owner: number; shop: number; spent: bigint }>()
  for (const { payer, product, split, boughtAt } of market.purchases) {
    if (payer === product.merchant.owner) continue
    const owner = owners.of(payer)
    const amount = inflate(spendingOf(split.merchant, market.rules.full), dayOf(new Date(boughtAt)))
    spent.set(owner, (spent.get(owner) ?? 0n) + amount)
    if (market.standings.isVerified(product.merchant)) continue
    const shop = shops.of(product.merchant)
    const before = spending.get(`${owner} ${shop}`)?.spent ?? 0n
    spending.set(`${owner} ${shop}`, { owner, shop, spent: before + amount })
  }
  const inflation = inflationOf(dayOf(new Date(market.now)))
  const today = (amount: bigint) => Number(amount / inflation)
  const [rows, entries] = [[...votes.values()], [...spending.values()]]
  const each = <T>(of: (number: number, owner: Owner) => T): T[] =>
    owners.all.map((owner, number) => of(number, owner))
  return {
    owners: {
      standing: Int32Array.from(each((_, owner) => market.standings.ofOwner(owner) ?? 0)),
      cast: Int32Array.from(each((number) => cast.get(number) ?? 0)),
      got: Int32Array.from(each((number) => got.get(number) ?? 0)),
      spent: Float64Array.from(each((number) => today(spent.get(number) ?? 0n))),
    },
    allVotes: [...cast.values()].reduce((sum, count) => sum + count, 0),
    votes: {
      voter: Int32Array.from(rows, ({ voter }) => voter),
      author: Int32Array.from(rows, ({ author }) => author),
      shop: Int32Array.from(rows, ({ shop }) => shop),
      count: Int32Array.from(rows, ({ count }) => count),
      first: Float64Array.from(rows, ({ first }) => first),
      last: Float64Array.from(rows, ({ last }) => last),
    },
    spending: {
      owner: Int32Array.from(entries, ({ owner }) => owner),
      shop: Int32Array.from(entries, ({ shop }) => shop),
      spent: Float64Array.from(entries, ({ spent }) => today(spent)),
    },
  }
}

/** The result as text, for the summary of the year. */
export function detectionOf(world: World): string {
  if (!world.market.standings.isOn) return '\nRings that are found: none, because no shop is verified'
  const { precision, recall, bySize, wrong, near, rings } = detect(world)
  return [
    '\nRings that are found\n',
    table(
      bySize.map(({ size, ...row }) => ({
        'rings of': size,
        ...row,
        recall: (row.found / row.agents).toFixed(3),
      })),
    ),
    `\n${rings.length} suspected rings; precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} of agents; ${wrong} honest agents among them (${near.found} of the ${near.agents} who spent a quarter or more at shops that are not verified)`,
    'Rings that buy like everybody are not simulated, and are not found',
  ].join('\n')
}
