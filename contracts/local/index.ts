export * from './accounts.ts'
export * from './chain.ts'
export * from './market.ts'
