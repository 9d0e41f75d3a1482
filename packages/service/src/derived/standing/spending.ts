// Reads what owners spent at shops into arrays of numbers: ten million entries take 120 MB, and no objects.
import { copyQueryOut, type Transaction } from '@referrer/database'
import { inflationOf, type Spending } from '@referrer/ranking'
import { readRows } from '../../machinery/db/binary-rows.ts'

/** The arithmetic is exact up to this amount of an entry. More counts as so much: 8,589 USDC at one shop. */
export const MOST_SPENT = 2 ** 33

export const BYTES_OF_OWNER = 20
/** Of the id of the shop and of the amount, eight bytes each. */
const BYTES_OF_ENTRY = 16

export interface ReadSpending {
  spending: Spending
  /** The addresses of the owners, one after the other. */
  owners: Uint8Array
  /** The shops in the order of `spending`, with what they got and from how many owners. */
  shops: { merchantId: number; revenue: number; customers: number }[]
}

/** What the entries of a chain are worth on a day. Those that have faded to 0 are left out. */
export async function readSpending(
  tx: Transaction,
  chainId: number,
  day: number,
  verified: readonly bigint[],
): Promise<ReadSpending> {
  const collector = createCollector(verified.map(Number))
  const inflation = inflationOf(day)
  // A COPY takes no parameters; these are numbers.
  const query = `
    SELECT owner, string_agg(int8send(merchant_id) || int8send(least(div(spent, ${inflation}), ${MOST_SPENT})::bigint), '')
    FROM market.spent_at_shops WHERE chain_id = ${chainId} AND spent >= ${inflation} GROUP BY owner ORDER BY owner`
  await readRows(copyQueryOut(tx, query), (row) => {
    const owner = row.bytes(0)
    if (owner.length !== BYTES_OF_OWNER) throw new Error('an owner is not an address')
    collector.add(owner, row.bytes(1))
  })
  return collector.end()
}

export function createCollector(verified: readonly number[]) {
  const owners = growing(Uint8Array)
  const first = growing(Int32Array)
  const shop = growing(Int32Array)
  const spent = growing(Float64Array)
  const shops: ReadSpending['shops'] = []
  const numbers = new Map<number, number>()
  for (const merchantId of verified) numberOf(merchantId)
  first.push(0)

  function numberOf(merchantId: number): number {
    const known = numbers.get(merchantId)
    if (known !== undefined) return known
    numbers.set(merchantId, shops.length)
    return shops.push({ merchantId, revenue: 0, customers: 0 }) - 1
  }

  return {
    add(owner: Uint8Array, entries: Buffer): void {
      for (const byte of owner) owners.push(byte)
      for (let at = 0; at < entries.length; at += BYTES_OF_ENTRY) {
        const number = numberOf(wholeAt(entries, at))
        const amount = wholeAt(entries, at + 8)
        shop.push(number)
        spent.push(amount)
        const of = shops[number] as ReadSpending['shops'][number]
        of.revenue += amount
        of.customers += 1
      }
      first.push(shop.length)
    },
    end(): ReadSpending {
      const isVerified = new Uint8Array(shops.length).fill(1, 0, verified.length)
      return {
        spending: { first: first.all(), shop: shop.all(), spent: spent.all(), isVerified },
        owners: owners.all(),
        shops,
      }
    },
  }
}

/** Eight bytes as a number; those of the database are below 2^53. */
const wholeAt = (bytes: Buffer, at: number) => bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)

const FEW = 1_024

/** An array that doubles when it is full. */
function growing<A extends Uint8Array | Int32Array | Float64Array>(Numbers: new (length: number) => A) {
  let numbers = new Numbers(FEW)
  let length = 0
  return {
    get length() {
      return length
    },
    push(number: number): void {
      if (length === numbers.length) {
        const larger = new Numbers(2 * length)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = number
    },
    all: () => numbers.subarray(0, length) as A,
  }
}
