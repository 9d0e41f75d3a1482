import { decodeErrorResult, type Hex } from 'viem'
import { RpcError } from '../rpc/index.ts'

/** In words where the contract gave words; its custom errors only the caller can name, so they stay bytes. */
export function revertReason(data: unknown): string {
  if (typeof data !== 'string' || data === '0x') return 'reverted without a reason'
  try {
    const { errorName, args } = decodeErrorResult({ data: data as Hex })
    if (errorName === 'Panic') return `reverted with panic 0x${BigInt(args?.[0] as bigint).toString(16)}`
    return `reverted: ${args?.[0]}`
  } catch {
    return `reverted with ${data}`
  }
}

export const isRevert = (error: unknown): error is RpcError =>
  error instanceof RpcError && error.kind === 'reverted'
