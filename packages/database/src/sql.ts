import type postgres from 'postgres'

/** How whole numbers of the database come to us and go back. */
export type Types = { bigint: bigint; numeric: bigint }
/** A pool. */
export type Sql = postgres.Sql<Types>
export type Transaction = postgres.TransactionSql<Types>
/** Either. */
export type Queryable = postgres.ISql<Types>
