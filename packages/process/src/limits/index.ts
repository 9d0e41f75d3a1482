export type { Rate } from './bucket.ts'
export { type Limiter, type Limits, type LimitsConfig, memoryLimits, openLimits } from './limits.ts'
export { createLimiter } from './local.ts'
export { limitsMigrations } from './postgres.ts'
