export { isPlainlyPrivate } from './addresses.ts'
export { clientOf } from './client-of.ts'
export {
  type Fetched,
  guardedFetch,
  HostNotAllowed,
  Unreachable,
} from './guarded-fetch.ts'
export { denying, type Lookup, publicLookup, systemLookup } from './lookup.ts'
export { createTurns, siteOf, type Turns } from './turns.ts'
export { parseWebUrl } from './web-url.ts'
