import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { type Address, type Hex, isAddress } from 'viem'
import { z } from 'zod'
import { BackendRefused, retried, withBackend } from '../backend.ts'
import type { Context } from '../context.ts'
import { Refused } from '../refused.ts'
import type { Chain } from './chain.ts'
import { settingsOf } from './deployment.ts'

const decimal = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text as Hex)

const Terms = z
  .object({
    escrow_id: decimal,
    payer: z.custom<Address>((value) => typeof value === 'string' && isAddress(value, { strict: false })),
    nonce: bytes32,
    merchant_id: decimal,
    product_id: bytes32,
    review_id: decimal,
    reviewer_agent_id: decimal,
    buyer_agent_id: decimal,
    held_back: decimal,
    cashback: decimal,
    window_end: decimal,
  })
  .transform((terms) => ({
    escrowId: terms.escrow_id,
    payer: terms.payer,
    nonce: terms.nonce,
    merchantId: terms.merchant_id,
    productId: terms.product_id,
    reviewId: terms.review_id,
    reviewerAgentId: terms.reviewer_agent_id,
    buyerAgentId: terms.buyer_agent_id,
    heldBack: terms.held_back,
    cashback: terms.cashback,
    windowEnd: terms.window_end,
  }))

export type EscrowTerms = z.output<typeof Terms>

/** The terms of an escrow, as the marketplace returns them. The contract stores their digest and checks them against it. */
export async function readTerms(
  context: Context,
  { client, chainId }: Chain,
  escrowId: bigint,
): Promise<EscrowTerms> {
  const { COMMISSION_ESCROW_ADDRESS: address } = await settingsOf(context, 'COMMISSION_ESCROW_ADDRESS')
  const last = await client.readContract({ address, abi: commissionEscrowAbi, functionName: 'lastEscrowId' })
  if (escrowId === 0n || escrowId > BigInt(last)) throw new Refused(`no such escrow: ${escrowId}`)
  // The escrow exists on the chain, so the marketplace will index it soon.
  const answer = await withBackend(context, (ask) =>
    retried(context, /not found/, () =>
      ask('get_escrow_terms', { escrow_id: Number(escrowId), chain_id: chainId }),
    ),
  ).catch((error: unknown) => {
    if (!(error instanceof BackendRefused)) throw error
    throw new Refused(`the marketplace does not tell the terms of escrow ${escrowId}: ${error.message}`)
  })
  const terms = Terms.safeParse(answer)
  if (!terms.success || terms.data.escrowId !== escrowId) {
    throw new Refused(`the marketplace gives no usable terms of escrow ${escrowId}; try again later`)
  }
  return terms.data
}
