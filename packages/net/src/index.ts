export { hostOf, isAllowedAddress, isPlainlyPrivate } from './addresses.ts'
export {
  type Fetched,
  type GuardedFetchOptions,
  guardedFetch,
  HostNotAllowed,
  type Reach,
  Unreachable,
} from './guarded-fetch.ts'
export { clientOf, createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export { type Lookup, publicLookup, systemLookup } from './lookup.ts'
export { createTurns } from './turns.ts'
export { parseWebUrl } from './web-url.ts'
