export {
  type ConnectOptions,
  connect,
  type Queryable,
  type Sql,
  type Transaction,
  type Types,
} from './connect.ts'
export { type PostgresServer, type StartOptions, startPostgres } from './embedded.ts'
export { DatabaseError } from './errors.ts'
export { migrate } from './migrate.ts'
export type { MigrationSet } from './migration-files.ts'
export { type Database, type OpenOptions, openDatabase } from './open.ts'
export { ConnectionLost } from './session.ts'
