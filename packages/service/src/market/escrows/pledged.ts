import type { Queryable } from '@referrer/database'

/**
 * Whether the review `m` that led to a purchase `e` pledges the cashback that was set aside. A payer who sends the settlement transaction
 * directly can set aside any share of the reviewer's commission as cashback; a share that was not pledged cannot be earned and goes to
 * the reviewer.
 */
export const isPledged = (sql: Queryable) => sql`e.cashback <= div(e.commission * m.cashback_bps, 10000)`
