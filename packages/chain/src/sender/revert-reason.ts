import { type Abi, type AbiParameter, decodeErrorResult, type Hex } from 'viem'
import { RpcError } from '../rpc/index.ts'

/** The revert string, or the name and arguments of the custom error. `errors` are those of the contracts that are called. */
export function revertReason(data: unknown, errors: Abi): string {
  if (typeof data !== 'string' || data === '0x') return 'reverted without a reason'
  try {
    const { errorName, args = [], abiItem } = decodeErrorResult({ abi: errors, data: data as Hex })
    if (errorName === 'Error') return `reverted: ${args[0]}`
    if (errorName === 'Panic') return `reverted with panic 0x${(args[0] as bigint).toString(16)}`
    const inputs: readonly AbiParameter[] = 'inputs' in abiItem ? abiItem.inputs : []
    const carried = args.map((value, at) => [inputs[at]?.name, value].filter(Boolean).join(' '))
    return `reverted with ${errorName}(${carried.join(', ')})`
  } catch {
    return 'reverted with an error that none of the known contracts declares'
  }
}

export const isRevert = (error: unknown): error is RpcError =>
  error instanceof RpcError && error.kind === 'reverted'
