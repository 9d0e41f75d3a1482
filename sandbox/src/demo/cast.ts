// Who plays the demo market: which development account each one has, and how honest its reviews are.
import type { AccountRole } from '@referrer/contracts/local'
import { developmentAccount, developmentAccounts, privateKeyOf } from '@referrer/contracts/local'
import { sandboxAccount } from '../people.ts'
import type { Owner } from '../shop/shop.ts'
import { SHOPS } from '../shop/shops.ts'
import type { SandboxAccount } from '../state.ts'

/**
 * careful: says what is so, and measures much; average: is off by a star at times; careless: hardly looks; shill: praises one shop;
 * slanderer: damns one shop.
 */
export type Honesty = 'careful' | 'average' | 'careless' | 'shill' | 'slanderer'

export interface Reviewer {
  /** Of its development account. */
  index: number
  honesty: Honesty
  /** The day on which it comes to the market. */
  joins: number
  /** What it gives buyers of its commission. */
  cashbackBps: number
}

const ROLES = Object.keys(developmentAccounts()) as AccountRole[]
const HONESTIES: readonly Honesty[] = [
  ...[
    'careful',
    'average',
    'average',
    'careful',
    'average',
    'careless',
    'careful',
    'average',
    'shill',
    'average',
  ],
  ...[
    'careful',
    'average',
    'careless',
    'average',
    'careful',
    'shill',
    'average',
    'slanderer',
    'careful',
    'average',
  ],
  ...[
    'careless',
    'average',
    'careful',
    'shill',
    'average',
    'average',
    'careful',
    'careless',
    'average',
    'careful',
  ],
] as Honesty[]

/** The first has the role `reviewer`; the others have no other part. */
export const REVIEWERS: readonly Reviewer[] = HONESTIES.map((honesty, at) => ({
  index: at === 0 ? ROLES.indexOf('reviewer') : ROLES.length - 1 + at,
  honesty,
  joins: at < 20 ? 0 : at * 4 - 60,
  cashbackBps: at === 0 ? 2_000 : honesty === 'shill' ? 4_000 : at % 3 === 0 ? 500 * (at % 5) : 0,
}))
const afterReviewers = ROLES.length + REVIEWERS.length - 1

/** The owners of the shops, in their order. The first has the role `merchant`. */
export const MERCHANTS: readonly number[] = SHOPS.map((_, at) =>
  at === 0 ? ROLES.indexOf('merchant') : afterReviewers + at - 1,
)
const afterMerchants = afterReviewers + SHOPS.length - 1

/** Buyers without an agent. */
export const WALLETS: readonly number[] = [afterMerchants, afterMerchants + 1]

/** The keys of the shops' server. */
const SIGNERS: readonly number[] = SHOPS.map((_, at) => afterMerchants + WALLETS.length + at)

/** How many development accounts it takes. */
export const DEMO_ACCOUNTS = afterMerchants + WALLETS.length + SHOPS.length

export const signerOf = (shop: number) => developmentAccount(SIGNERS[shop] ?? 0)

/** In the order of `REVIEWERS`, and in that of `SHOPS`. */
export interface Ids {
  agentIds: number[]
  merchantIds: number[]
}

export const shopOwners = ({ merchantIds }: Ids): Owner[] =>
  merchantIds.map((merchantId, at) => ({ merchantId, signingKey: privateKeyOf(signerOf(at)) }))

/** Those of a bare market, and everybody who has an agent or a shop in the demo. */
export function demoAccounts(people: SandboxAccount[], { agentIds, merchantIds }: Ids): SandboxAccount[] {
  const reviewers = agentIds.map((agentId, at) => ({
    ...sandboxAccount('reviewer', REVIEWERS[at]?.index ?? -1),
    agentId,
  }))
  const merchants = merchantIds.map((merchantId, at) => ({
    ...sandboxAccount('merchant', MERCHANTS[at] ?? -1),
    merchantId,
  }))
  return [...people, ...reviewers.slice(1), ...merchants.slice(1)]
}
