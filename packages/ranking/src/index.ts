export * from './rank.ts'
export * from './rings.ts'
export * from './standing.ts'
export * from './trust.ts'
