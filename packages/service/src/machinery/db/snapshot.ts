import type { Sql, Transaction } from '@referrer/database'

/** Reads that tell of one moment, so that what they say adds up. Only the database is waited for inside: a connection is held. */
export const inOneSnapshot = <T>(sql: Sql, read: (tx: Transaction) => Promise<T>): Promise<T> =>
  sql.begin('isolation level repeatable read read only', read) as Promise<T>
