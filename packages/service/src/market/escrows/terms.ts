import { Attribution } from '@referrer/protocol'
import { getAddress } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { accountShown, hex32 } from '../../kit/fields.ts'
import { hex } from '../../kit/json-values.ts'
import { refused } from '../../kit/market-error.ts'
import { findTerms } from './store.ts'

const decimal = z.string().meta({ shown: { type: 'string', pattern: '^[0-9]{1,78}$' } })
const amount = decimal.meta({ ...decimal.meta(), about: 'In USDC base units.' })

export const EscrowTerms = z
  .object({
    contract: accountShown.meta({ about: 'The escrow contract in which it lies.' }),
    escrow_id: decimal,
    payer: accountShown,
    nonce: hex32,
    merchant_id: decimal,
    product_id: hex32,
    review_id: decimal,
    reviewer_agent_id: decimal,
    buyer_agent_id: decimal.meta({ about: 'The greatest uint256 while no agent is bound.' }),
    held_back: amount,
    cashback: amount,
    window_end: decimal.meta({ about: 'In unix seconds.' }),
  })
  .meta({ id: 'EscrowTerms' })

/** The terms of an escrow, which every contract call on it must pass. */
export async function escrowTerms(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  escrowId: bigint,
): Promise<z.output<typeof EscrowTerms>> {
  const row = await findTerms(sql, chainId, escrowId)
  if (!row) throw refused('not found', `escrow ${escrowId} not found (not yet indexed — retry shortly)`)
  return {
    contract: getAddress(hex(row.contract)),
    escrow_id: String(row.escrow_id),
    payer: getAddress(hex(row.payer)),
    nonce: hex(row.nonce),
    merchant_id: String(row.merchant_id),
    product_id: hex(row.product_id),
    review_id: String(row.review_id),
    reviewer_agent_id: String(row.reviewer_agent_id),
    buyer_agent_id: String(row.buyer_agent_id ?? Attribution.AGENTLESS_BUYER_ID),
    held_back: String(row.held_back),
    cashback: String(row.cashback),
    window_end: String(row.window_end.getTime() / 1_000),
  }
}
