import type { Queryable } from '@referrer/database'

/**
 * Whether the review `m` that led to a purchase `e` pledges the cashback that was set aside. Who has a payment of his own settled can put
 * any share of the reviewer's commission into it: what nobody pledged cannot be earned, and goes to the reviewer.
 */
export const isPledged = (sql: Queryable) => sql`e.cashback <= div(e.commission * m.cashback_bps, 10000)`
