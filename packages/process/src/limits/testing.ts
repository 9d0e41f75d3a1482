// Stores of rate limits for tests and benchmarks.
export { createPostgresStore } from './postgres.ts'
export type { Store } from './store.ts'
