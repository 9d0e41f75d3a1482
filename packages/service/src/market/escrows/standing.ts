import { RpcError, readContract } from '@referrer/chain'
import { Attribution } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData } from 'viem'
import type { Chain } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import type { EscrowRow, TermsRow } from './store.ts'

/** The states of an escrow by their number in the contract. */
const STATES = [undefined, 'holding', 'settled'] as const

export interface Standing {
  state: 'holding' | 'settled'
  /** Whether everybody may settle the escrow now. */
  isFallbackOpen: boolean
}

/** The state of an escrow on the chain; undefined when the escrow is not there. */
export async function standingOf(
  chain: Chain,
  row: EscrowRow,
  options: { timeoutMs: number },
): Promise<Standing | undefined> {
  const [[escrowId, number], isFallbackOpen] = await Promise.all([
    readContract(
      chain,
      {
        address: hex(row.contract),
        abi: commissionEscrowAbi,
        functionName: 'escrowOf',
        args: [hex(row.payer), hex(row.nonce)],
      },
      options,
    ),
    canFallBack(chain, row, options),
  ])
  const state = STATES[number]
  if (!state || escrowId !== row.escrow_id) return undefined
  // The two were read one after the other, so the escrow may have been settled in between.
  return { state, isFallbackOpen: state === 'holding' && isFallbackOpen }
}

/** Whether the fallback is open, found by simulating the call: only the contract knows its delay, its pauses and its time. */
async function canFallBack({ rpc }: Chain, row: EscrowRow, options: { timeoutMs: number }): Promise<boolean> {
  const data = encodeFunctionData({
    abi: commissionEscrowAbi,
    functionName: 'settleFallback',
    args: [termsOf(row)],
  })
  try {
    await rpc.request('eth_call', [{ to: hex(row.contract), data }, 'latest'], options)
    return true
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return false
    throw error
  }
}

/** The escrow's terms as an argument of a contract call. */
export const termsOf = (row: TermsRow) => ({
  escrowId: row.escrow_id,
  payer: hex(row.payer),
  nonce: hex(row.nonce),
  merchantId: row.merchant_id,
  productId: hex(row.product_id),
  reviewId: row.review_id,
  reviewerAgentId: row.reviewer_agent_id,
  buyerAgentId: row.buyer_agent_id ?? Attribution.AGENTLESS_BUYER_ID,
  heldBack: row.held_back,
  cashback: row.cashback,
  windowEnd: BigInt(row.window_end.getTime() / 1_000),
})
