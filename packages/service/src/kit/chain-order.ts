import type { Queryable } from '@referrer/database'

// Where in its chain a record was made, as rows of SQL that compare in the order of the chain: several blocks may have one second. The
// time stands first for the indexes, and for records of block 0, which were indexed before their blocks were kept.

/** Of a purchase `e`. */
export const whenBought = (sql: Queryable) => sql`(e.deposited_at, e.block_number, e.log_index)`

/** Of a published review `c`. */
export const whenPublished = (sql: Queryable) => sql`(c.published_at, c.block_number, c.log_index)`

/** Of a change of an identity's owner `o`. */
export const whenTransferred = (sql: Queryable) => sql`(o.changed_at, o.block_number, o.log_index)`
