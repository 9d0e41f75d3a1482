export { isPlainlyPrivate } from './addresses.ts'
export {
  type Fetched,
  guardedFetch,
  HostNotAllowed,
  Unreachable,
} from './guarded-fetch.ts'
export { clientOf, createLimiter, type Limiter } from './limiter.ts'
export { type Lookup, publicLookup, systemLookup } from './lookup.ts'
export { createTurns } from './turns.ts'
export { parseWebUrl } from './web-url.ts'
