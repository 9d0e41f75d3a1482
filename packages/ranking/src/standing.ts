// Standing says how far the money of an owner goes to shops that the operator has verified. Money paid to a shop of
// one's own comes back, money paid to a stranger's shop does not: standing has to be paid for. All values are
// integers in millionths.
import { MILLION } from './rank.ts'

/** What owners spent at shops that are not their own. */
export interface Spending {
  /** The entries of owner i are those from `first[i]` up to, and without, `first[i + 1]`. */
  first: Int32Array
  /** Of each entry: the number of the shop, and what the owner spent there: a whole number of at most 2^33. */
  shop: Int32Array
  spent: Float64Array
  /** Of each shop: 1 if the operator has verified it. */
  isVerified: Uint8Array
}

export interface Standing {
  owners: Int32Array
  shops: Int32Array
}

/** The part of its customers' standing that a shop gets which is not verified, in percent. */
const PASSED_ON = 80
/** Such a shop gets at most this part of an owner's standing: an owner who uses all of it has bought at ten shops. */
const SHARES_OF_OWNER = 10
/** Every round carries standing one step further, and four fifths of it. */
export const ROUNDS = 20

/**
 * A verified shop has a standing of 1. The standing of an owner is the mean over the shops where it bought, weighted by
 * what it spent. That of any other shop is four fifths of the mean over its customers, weighted by what they spent
 * there; of each customer at most a tenth of its spending counts. A group of owners and shops has no standing if its
 * owners spent nothing elsewhere and nobody else bought there.
 */
export function standingOf({ first, shop, spent, isVerified }: Spending): Standing {
  const standing: Standing = {
    owners: new Int32Array(first.length - 1),
    shops: Int32Array.from(isVerified, (yes) => yes * MILLION),
  }
  const revenue = new Float64Array(isVerified.length)
  for (let at = 0; at < spent.length; at++) add(revenue, shop[at] as number, spent[at] as number)
  const passed = new Float64Array(isVerified.length)
  for (let round = 0; round < ROUNDS; round++) {
    passed.fill(0)
    for (let owner = 0; owner < standing.owners.length; owner++) {
      const [begin, end] = [first[owner] as number, first[owner + 1] as number]
      let [all, well] = [0, 0]
      for (let at = begin; at < end; at++) {
        const amount = spent[at] as number
        all += amount
        well += Math.floor((amount * (standing.shops[shop[at] as number] as number)) / MILLION)
      }
      const own = share(well, all)
      standing.owners[owner] = own
      if (own === 0) continue
      const most = Math.floor(all / SHARES_OF_OWNER)
      for (let at = begin; at < end; at++) {
        add(passed, shop[at] as number, Math.floor((Math.min(spent[at] as number, most) * own) / MILLION))
      }
    }
    for (let at = 0; at < isVerified.length; at++) {
      if (isVerified[at]) continue
      standing.shops[at] = Math.floor((share(passed[at] as number, revenue[at] as number) * PASSED_ON) / 100)
    }
  }
  return standing
}

function add(sums: Float64Array, at: number, amount: number): void {
  sums[at] = (sums[at] as number) + amount
}

/** In millionths, rounded down. Numbers are exact up to 2^53. */
function share(part: number, of: number): number {
  if (part === 0) return 0
  if (part < 2 ** 33) return Math.floor((part * MILLION) / of)
  return Number((BigInt(part) * BigInt(MILLION)) / BigInt(of))
}
