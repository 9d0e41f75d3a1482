import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
} from 'viem'
import type { RequestOptions } from './endpoint.ts'
import type { RpcPool } from './pool.ts'

type View = 'pure' | 'view'

export interface ContractRead<A extends Abi, N extends ContractFunctionName<A, View>> {
  address: Address
  abi: A
  functionName: N
  args: ContractFunctionArgs<A, View, N>
}

/** Calls a view as of the newest block. Throws an `RpcError`: of kind `reverted` when the contract reverted. */
export async function readContract<const A extends Abi, N extends ContractFunctionName<A, View>>(
  { rpc }: { rpc: Pick<RpcPool, 'request'> },
  read: ContractRead<A, N>,
  options?: RequestOptions,
): Promise<ContractFunctionReturnType<A, View, N>> {
  // viem can type a call only when its ABI and function name are literals.
  const untyped = read as unknown as { address: Address; abi: Abi; functionName: string; args: unknown[] }
  const call = { to: untyped.address, data: encodeFunctionData(untyped) }
  const data = await rpc.request<Hex>('eth_call', [call, 'latest'], options)
  return decodeFunctionResult({ ...untyped, data }) as ContractFunctionReturnType<A, View, N>
}
