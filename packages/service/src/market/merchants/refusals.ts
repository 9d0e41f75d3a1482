import { MarketError } from '../../kit/market-error.ts'

export const notFound = () => new MarketError('not found', 'merchant not found')
export const productNotFound = () => new MarketError('not found', 'product not found')
export const notOwner = () => new MarketError('unauthorized', 'caller does not own this merchant')
