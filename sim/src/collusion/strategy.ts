// What an attacker can do who knows the rules: a point in a space of strategies, and its neighbours.
import type { Random } from '../random.ts'

/** Numbers of purchases are for each helper. */
export type Strategy = {
  /** How many of the attacker's k owners help. */
  helpers: number
  /** How many agents the sales are spread over. */
  stars: number
  /** Purchases at verified shops, through links of the stars, with votes for them: their price is gone. */
  outside: number
  /** Purchases at an honest shop that is not verified. */
  unverified: number
  /** The price of these, as a part of what pays a full commission. */
  price: number
  /** Shops of the ring, and purchases there after those at other shops. */
  shops: number
  inside: number
  /** The commission of the ring's shops, in basis points: the platform's fee is a tenth of it. */
  commissionBps: number
  /** Whether the purchases inside are made on one day, before the standings notice them, or day by day. */
  isSudden: boolean
  /** Votes that others bring: wallets that bought nothing before, each used once. */
  freshWallets: number
  /** Days between the purchases outside and those inside. */
  sleep: number
  /** Days over which the stars sell. */
  sellingDays: number
  /** The part of the purchases outside that is made later, while the stars sell. */
  later: number
  /** The stars are bought from an honest owner, with the rank they have. */
  isBought: boolean
}

const CHOICES: { [Key in keyof Strategy]: readonly Strategy[Key][] } = {
  helpers: [0, 1, 2, 3, 5, 10, 20, 50, 100],
  stars: [1, 1, 1, 2, 4],
  outside: [0, 0, 1, 2, 3, 6, 12],
  unverified: [0, 0, 0, 1, 3, 6],
  price: [0.02, 0.1, 0.5, 1, 3, 10],
  shops: [1, 1, 2, 5, 12],
  inside: [0, 1, 3, 6, 12, 24],
  commissionBps: [0, 500, 1_000, 10_000],
  isSudden: [false, true],
  freshWallets: [0, 0, 0, 1, 3],
  sleep: [0, 0, 1, 30],
  sellingDays: [0, 0, 90, 360],
  later: [0, 0, 0.5],
  isBought: [false, false, false, true],
}
const KEYS = Object.keys(CHOICES) as (keyof Strategy)[]

export function anyStrategy(random: Random, k: number): Strategy {
  const picked = Object.fromEntries(KEYS.map((key) => [key, random.pick<unknown>(CHOICES[key])])) as Strategy
  return { ...picked, helpers: Math.min(picked.helpers, k) }
}

/** Differs in one or two choices. */
export function neighbourOf(random: Random, strategy: Strategy, k: number): Strategy {
  const other = anyStrategy(random, k)
  const changed = random.some(KEYS, random.chance(0.5) ? 1 : 2)
  return { ...strategy, ...Object.fromEntries(changed.map((key) => [key, other[key]])) }
}

/** What people would try first. */
export const knownStrategies = (k: number): Strategy[] => {
  const nothing: Strategy = {
    helpers: k,
    stars: 1,
    outside: 0,
    unverified: 0,
    price: 1,
    shops: 1,
    inside: 0,
    commissionBps: 10_000,
    isSudden: false,
    freshWallets: 0,
    sleep: 0,
    sellingDays: 0,
    later: 0,
    isBought: false,
  }
  return [
    nothing,
    { ...nothing, inside: 3 },
    { ...nothing, outside: 3 },
    { ...nothing, outside: 1, price: 0.1 },
    { ...nothing, helpers: 1, outside: 1 },
    { ...nothing, outside: 1, inside: 12, shops: 12, commissionBps: 500 },
    { ...nothing, outside: 1, inside: 24, shops: 12, commissionBps: 0, isSudden: true },
    { ...nothing, unverified: 3, inside: 6, shops: 5 },
    { ...nothing, freshWallets: 3 },
    { ...nothing, outside: 1, later: 0.5, sellingDays: 360 },
    { ...nothing, isBought: true },
  ]
}

/** The strategy in words. */
export function describe(strategy: Strategy): string {
  const { helpers, stars, outside, unverified, price, shops, inside, commissionBps, freshWallets } = strategy
  const parts = [
    outside > 0 && `${outside} purchases at verified shops`,
    unverified > 0 && `${unverified} at an honest shop that is not verified`,
    (outside > 0 || unverified > 0) && price !== 1 && `at ${price} of the price`,
    inside > 0 &&
      `${inside} at ${shops === 1 ? 'an own shop' : `${shops} own shops`} with ${commissionBps / 100} % commission${strategy.isSudden ? ', all on one day' : ''}`,
    freshWallets > 0 && `${freshWallets} fresh wallets for each`,
    strategy.sleep > 0 && inside > 0 && `${strategy.sleep} days of sleep`,
    strategy.later > 0 && outside > 0 && 'half of it while selling',
    strategy.isBought && 'bought agents',
  ].filter((part) => part !== false)
  if (parts.length === 0) return 'nothing'
  const who = `${helpers} helper${helpers === 1 ? '' : 's'}${stars > 1 ? ` for ${stars} stars` : ''}`
  return `${who}, each: ${parts.join(', ')}`
}
