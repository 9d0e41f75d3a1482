import { readContract } from '@referrer/chain'
import type { Queryable } from '@referrer/database'
import { Money } from '@referrer/protocol'
import { erc20Abi } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { moment, optional, wholeNumber } from '../../kit/fields.ts'
import { hex, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { bestEffort } from '../../kit/onchain.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { Commission, commissionOf } from './commission.ts'
import { earningsInPeriod, earningsOfAgent, type Period, payeeOf } from './store.ts'

/** Query fields that select purchases by their time. */
export const period = {
  from: optional(moment('invalid from: must be RFC3339: invalid input', 'Purchases from this moment on.')),
  to: optional(moment('invalid to: must be RFC3339: invalid input', 'Purchases before this moment.')),
}

export const EscrowPending = z
  .object({ held_back: baseUnits(), cashback: baseUnits(), total: baseUnits() })
  .meta({ id: 'EscrowPending' })

export const walletBalance = z.string().meta({
  about:
    'What the wallet holds, in whole USDC as decimal text, such as 12.5. Left out when the chain cannot be read.',
  shown: { type: 'string', pattern: '^\\d+(\\.\\d{1,6})?$' },
})

export const Earnings = z
  .object({
    commission: Commission,
    cashback: z.object({ total: baseUnits(), count: wholeNumber }),
    total_earnings: baseUnits('Commission and cashback that were paid'),
    escrow_pending: EscrowPending,
    usdc_wallet_balance: walletBalance.optional(),
  })
  .meta({ id: 'Earnings' })

/** The earnings of a period. Pending amounts and the wallet's balance are current, whatever the period. */
export async function earnings(
  { sql }: Pick<Context, 'sql'>,
  chain: Chain,
  agentId: bigint,
  period: Period = {},
): Promise<z.output<typeof Earnings>> {
  const [recorded, balance] = await Promise.all([
    inOneSnapshot(sql, (tx) => recordedEarnings(tx, chain.config.chainId, agentId, period)),
    balanceOfAgent(sql, chain, agentId),
  ])
  return { ...recorded, ...balance }
}

/** The earnings without the wallet's balance, which is not indexed. */
export async function recordedEarnings(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { from, to }: Period = {},
): Promise<Omit<z.output<typeof Earnings>, 'usdc_wallet_balance'>> {
  const [all, inPeriod] = await Promise.all([
    earningsOfAgent(sql, chainId, agentId),
    (from ?? to) && earningsInPeriod(sql, chainId, agentId, { from, to }),
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
  }
}

/** The balance of the agent's payee, best-effort: empty when the agent is unknown or the chain cannot be read. */
export async function balanceOfAgent(
  sql: Queryable,
  chain: Chain,
  agentId: bigint,
): Promise<{ usdc_wallet_balance?: string }> {
  const payee = await payeeOf(sql, chain.config.chainId, agentId)
  if (!payee) return {}
  const { USDC: address } = chain.config.contracts
  const call = { address, abi: erc20Abi, functionName: 'balanceOf', args: [hex(payee)] } as const
  const balance = await bestEffort(chain, (options) => readContract(chain, call, options))
  return balance === undefined ? {} : { usdc_wallet_balance: Money.format(balance) }
}
