export type { RequestOptions, RpcCall, RpcEndpoint } from './endpoint.ts'
export { RpcError, type RpcErrorKind } from './error.ts'
export { createNodeCheck, type NodeAnswers, type NodeCheck, type NodeCheckOptions } from './node-check.ts'
export {
  type CallOutcome,
  createRpcPool,
  type EndpointHealth,
  type RpcPool,
  type RpcPoolOptions,
} from './pool.ts'
export { type ContractRead, readContract } from './read-contract.ts'
