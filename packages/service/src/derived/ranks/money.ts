// Counts the money of purchases: what owners spent at shops, what authors sold there, and what speaks for them. These
// functions are pure.
import { isDeepStrictEqual } from 'node:util'
import { dayOf, inflate, spendingOf } from '@referrer/ranking'

const BPS = 10_000n

/** The author of a review, with the owner at publication. */
export interface Author {
  agentId: bigint
  owner: Buffer
}

/** The money of a supporter: what the shop got, and what it counts as spending. */
export interface Support {
  paid: bigint
  spent: bigint
}

/** Money that counts for an author, as of the day of the purchase. */
export interface AuthorMoney {
  day: number
  merchantId: bigint
  /** Whom the support is for, with the owner at publication. */
  author: Author | null
  /** Whose sales they are: the owner of the author when it sold. Null: nobody's. */
  seller: Buffer | null
  sales: bigint
  support: Support
}

const NO_SUPPORT: Support = { paid: 0n, spent: 0n }

/** One of so many parts of what was paid for a purchase. */
const supportBy = ({ price, commission }: Price, fullCommission: bigint, parts: bigint): Support => {
  const net = price - commission
  return { paid: net / parts, spent: spendingOf(net, fullCommission) / parts }
}

interface Price {
  price: bigint
  commission: bigint
}

export interface CountedPurchase extends AuthorMoney {
  contract: Buffer
  payer: Buffer
  nonce: Buffer
  reviewId: bigint
  commissionBps: number
  owner: Buffer
  spent: bigint
}

/** A purchase, with what counts of it. */
export interface PurchaseNow
  extends Price,
    Pick<
      CountedPurchase,
      | 'contract'
      | 'payer'
      | 'nonce'
      | 'reviewId'
      | 'commissionBps'
      | 'owner'
      | 'merchantId'
      | 'author'
      | 'seller'
    > {
  /** Whether the buyer agrees with the review whose link it followed. */
  agrees: boolean
  depositedAt: Date
  /** Whether the shop belonged to the owner or the payer. */
  isOwnShop: boolean
}

/** What a purchase counts now. Without a known review it is nobody's sale. */
export function countedOf(purchase: PurchaseNow, fullCommission: bigint): CountedPurchase {
  const { price, commission, depositedAt, isOwnShop, agrees, ...same } = purchase
  const { author, commissionBps } = same
  return {
    ...same,
    day: dayOf(depositedAt),
    spent: isOwnShop ? 0n : spendingOf(price - commission, fullCommission),
    sales: author && same.seller ? (price * BigInt(commissionBps)) / BPS : 0n,
    support: author && agrees ? supportBy(purchase, fullCommission, PARTS) : NO_SUPPORT,
  }
}

/** Half of the money speaks for the author whose link was followed, half for those whom the buyer votes for. */
const PARTS = 2n

export interface CountedVote extends AuthorMoney {
  ballotId: bigint
  reviewId: bigint
  author: Author
}

/** A vote that speaks for its author, one of `votes` on its ballot. */
export interface VoteNow extends Price, Pick<CountedVote, 'ballotId' | 'reviewId' | 'author' | 'merchantId'> {
  depositedAt: Date
  votes: number
}

export const countedVote = (vote: VoteNow, fullCommission: bigint): CountedVote => {
  const { price: _price, commission: _commission, depositedAt, votes, ...same } = vote
  const support = supportBy(vote, fullCommission, PARTS * BigInt(votes))
  return { ...same, day: dayOf(depositedAt), seller: null, sales: 0n, support }
}

/** What was counted and what counts now. Undefined: nothing. */
export interface Difference<T> {
  before: T | undefined
  after: T | undefined
}

/** Pairs what was counted with what counts now, and leaves out what is the same. */
export function differencesOf<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (one: T) => string,
): Difference<T>[] {
  const pairs = new Map<string, Difference<T>>(
    before.map((one) => [keyOf(one), { before: one, after: undefined }]),
  )
  for (const one of after) {
    const key = keyOf(one)
    pairs.set(key, { before: pairs.get(key)?.before, after: one })
  }
  return [...pairs.values()].filter((pair) => !isDeepStrictEqual(pair.before, pair.after))
}

export const nameOfPayment = ({
  contract,
  payer,
  nonce,
}: Pick<CountedPurchase, 'contract' | 'payer' | 'nonce'>): string =>
  [contract, payer, nonce].map((bytes) => bytes.toString('hex')).join('/')

export const nameOfVote = ({ ballotId, reviewId }: CountedVote): string => `${ballotId}/${reviewId}`

/** The money of an author at a shop, inflated. */
export interface MoneyTotals extends Author {
  merchantId: bigint
  sales: bigint
  paid: bigint
  spent: bigint
}

/** The differences that changed purchases and votes add to the money of authors. */
export function moneyTotals(differences: readonly Difference<AuthorMoney>[]): MoneyTotals[] {
  const all = new Map<string, MoneyTotals>()
  const add = (money: AuthorMoney | undefined, sign: 1n | -1n) => {
    if (!money?.author) return
    const { author, seller, merchantId, day, sales, support } = money
    const totalsOf = (owner: Buffer) => {
      const key = `${author.agentId}/${owner.toString('hex')}/${merchantId}`
      const sum = all.get(key) ?? { ...author, owner, merchantId, sales: 0n, paid: 0n, spent: 0n }
      all.set(key, sum)
      return sum
    }
    if (seller) totalsOf(seller).sales += sign * inflate(sales, day)
    const own = totalsOf(author.owner)
    own.paid += sign * inflate(support.paid, day)
    own.spent += sign * inflate(support.spent, day)
  }
  for (const { before, after } of differences) {
    add(before, -1n)
    add(after, 1n)
  }
  return [...all.values()].filter(({ sales, paid, spent }) => sales !== 0n || paid !== 0n || spent !== 0n)
}

/** Spending of an owner at a shop, inflated. */
export interface Spent {
  owner: Buffer
  merchantId: bigint
  spent: bigint
}

/** The differences that changed purchases add to the spending of owners. */
export function spentOf(differences: readonly Difference<CountedPurchase>[]): Spent[] {
  const all = new Map<string, Spent>()
  const add = (purchase: CountedPurchase | undefined, sign: 1n | -1n) => {
    if (!purchase || purchase.spent === 0n) return
    const { owner, merchantId, spent, day } = purchase
    const key = `${owner.toString('hex')}/${merchantId}`
    const sum = all.get(key) ?? { owner, merchantId, spent: 0n }
    sum.spent += sign * inflate(spent, day)
    all.set(key, sum)
  }
  for (const { before, after } of differences) {
    add(before, -1n)
    add(after, 1n)
  }
  return [...all.values()].filter(({ spent }) => spent !== 0n)
}
