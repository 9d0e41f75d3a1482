export type { RequestOptions, RpcCall, RpcEndpoint } from './endpoint.ts'
export { RpcError, type RpcErrorKind } from './error.ts'
export { createRpcPool, type RpcPool, type RpcPoolOptions } from './pool.ts'
export { type ContractRead, readContract } from './read-contract.ts'
