// Simulates calls in one `eth_call`: they run as the relayer, one after the other on one state, which is then discarded.
import { RpcError } from '@referrer/chain'
import { settlementProbeAbi, settlementProbeCode } from '@referrer/protocol/abi'
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import type { Chain } from '../context.ts'

export interface Call {
  target: Address
  /** The most that it may use; 0n: whatever is left. */
  gas: bigint
  data: Hex
}

export interface Outcome {
  ok: boolean
  gasUsed: bigint
  /** What it returned, or why it reverted. */
  data: Hex
}

export interface Probed {
  /** Of the block in which it was run. */
  timestamp: bigint
  /** Of each wallet given. */
  haveCode: readonly boolean[]
  /** In the order of the calls. It ends before the first call that could not get its gas. */
  outcomes: readonly Outcome[]
}

/** `latest` is the newest block, which may be old on a quiet chain; `pending` is now, and costs a node more; a number is that block. */
export type ProbeTag = 'latest' | 'pending' | Hex

/** The most gas that a node gives to one call or transaction (EIP-7825). */
export const MOST_GAS = 16_777_216n
const NOBODY: Address = '0x0000000000000000000000000000000000000000'

export async function probe(
  { rpc }: { rpc: Pick<Chain['rpc'], 'request'> },
  relayer: Address,
  calls: Call[],
  { tag = 'latest', wallets = [] }: { tag?: ProbeTag; wallets?: Address[] } = {},
): Promise<Probed> {
  const together = { abi: settlementProbeAbi, functionName: 'together' } as const
  const data = encodeFunctionData({ ...together, args: [calls, wallets] })
  const request = { from: NOBODY, to: relayer, data, gas: `0x${MOST_GAS.toString(16)}` }
  const code = { [relayer]: { code: settlementProbeCode } }
  const answer = await rpc.request<Hex>('eth_call', [request, tag, code])
  const [timestamp, haveCode, outcomes] = decodeFunctionResult({ ...together, data: answer })
  return { timestamp, haveCode, outcomes }
}

/** Whether a node can simulate payments. One that does not answer now counts as able. */
export async function takesStateOverrides(
  node: Pick<Chain['rpc'], 'request'>,
  account: Address,
): Promise<boolean> {
  try {
    await probe({ rpc: node }, account, [])
    return true
  } catch (error) {
    return error instanceof RpcError && error.kind !== 'refused' && error.kind !== 'reverted'
  }
}
