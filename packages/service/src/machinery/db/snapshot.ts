import type { Sql, Transaction } from '@referrer/database'

/** Does several reads in one snapshot, so that their figures agree. It holds a connection: wait for nothing but the database inside. */
export const inOneSnapshot = <T>(sql: Sql, read: (tx: Transaction) => Promise<T>): Promise<T> =>
  sql.begin('isolation level repeatable read read only', read) as Promise<T>
