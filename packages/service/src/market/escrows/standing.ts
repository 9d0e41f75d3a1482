import { RpcError, readContract } from '@referrer/chain'
import { Attribution } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData } from 'viem'
import type { Chain } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import type { EscrowRow, TermsRow } from './store.ts'

/** By the number that the contract gives them. */
const STATES = [undefined, 'holding', 'settled'] as const

export interface Standing {
  state: 'holding' | 'settled'
  /** Whether anybody may settle it now. */
  isFallbackOpen: boolean
}

/** Where an escrow stands on the chain; undefined: it is not there. */
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
  // The two were read one after the other: it may have been settled in between.
  return { state, isFallbackOpen: state === 'holding' && isFallbackOpen }
}

/** Asked by trying: the contract alone knows its delay, its pauses and its time. */
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

/** As the contract wants to be told them. */
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
