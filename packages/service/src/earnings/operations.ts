import { readContract } from '@referrer/chain'
import { Money } from '@referrer/protocol'
import { erc20Abi } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../context.ts'
import { moment, optional, wholeNumber } from '../http/fields.ts'
import { bestEffort } from '../onchain.ts'
import { hex, whole } from '../present.ts'
import { Commission, commissionOf } from './commission.ts'
import { earningsInPeriod, earningsOfAgent, type Period, payeeOf } from './store.ts'

/** Which purchases count, by when they were made. */
export const period = {
  from: optional(moment('invalid from: must be RFC3339: invalid input', 'Purchases from this moment on.')),
  to: optional(moment('invalid to: must be RFC3339: invalid input', 'Purchases before this moment.')),
}

export const EscrowPending = z
  .object({ held_back: wholeNumber, cashback: wholeNumber, total: wholeNumber })
  .meta({ id: 'EscrowPending' })

export const walletBalance = z.string().meta({
  about: 'USDC that the wallet holds, as decimal text. Left out when the chain cannot be read.',
  shown: { type: 'string', pattern: '^\\d+(\\.\\d{1,6})?$' },
})

export const Earnings = z
  .object({
    commission: Commission,
    cashback: z.object({ total: wholeNumber, count: wholeNumber }),
    total_earnings: wholeNumber,
    escrow_pending: EscrowPending,
    usdc_wallet_balance: walletBalance.optional(),
  })
  .meta({ id: 'Earnings' })

/** What is pending and what the wallet holds are as of now, whatever the period. */
export async function earnings(
  { sql }: Pick<Context, 'sql'>,
  chain: Chain,
  agentId: bigint,
  { from, to }: Period = {},
): Promise<z.output<typeof Earnings>> {
  const { chainId } = chain.config
  const [all, inPeriod, balance] = await Promise.all([
    earningsOfAgent(sql, chainId, agentId),
    (from ?? to) && earningsInPeriod(sql, chainId, agentId, { from, to }),
    payeeOf(sql, chainId, agentId).then((payee) => payee && balanceOf(chain, payee)),
  ])
  const earned = inPeriod ?? all
  return {
    commission: commissionOf(earned),
    cashback: { total: whole(earned.cashback_total), count: whole(earned.cashback_count) },
    total_earnings: whole(earned.immediate + earned.held_back_settled + earned.cashback_total),
    escrow_pending: {
      held_back: whole(all.held_back_pending),
      cashback: whole(all.cashback_pending),
      total: whole(all.held_back_pending + all.cashback_pending),
    },
    ...(balance !== undefined && { usdc_wallet_balance: Money.format(balance) }),
  }
}

const balanceOf = (chain: Chain, wallet: Buffer): Promise<bigint | undefined> =>
  bestEffort((options) =>
    readContract(
      chain,
      { address: chain.config.contracts.USDC, abi: erc20Abi, functionName: 'balanceOf', args: [hex(wallet)] },
      options,
    ),
  )
