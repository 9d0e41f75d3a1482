import type { Payment } from './payment.ts'

/**
 * A purchase whose money has moved.
 *
 * @example
 * ```ts
 * import type { Sale } from '@referrer/merchant'
 *
 * export const serve = (_request: Request, sale: Sale) => ({ order: sale.id, paid: `${sale.amount}` })
 * ```
 */
export interface Sale {
  /** Names this purchase and no other, also when it is served a second time after a failure. One transaction can hold several. */
  id: string
  transaction: string
  payer: string
  /** USDC base units. */
  amount: bigint
  /** Of the ref link that led here. */
  attributionToken: string
  /** The agent that bought, where one did. */
  buyerAgentId?: string
  /** The buyer has paid for this before and came back by its signature: see `signIn`. */
  isReturning?: true
}

export function saleOf(
  payment: Payment,
  amount: bigint,
  { transaction, payer }: { transaction: string; payer: string | undefined },
): Sale {
  return {
    id: payment.key,
    transaction,
    payer: payer ?? payment.payer ?? '',
    amount,
    attributionToken: payment.attributionToken ?? '',
    ...(payment.buyerAgentId !== undefined && { buyerAgentId: payment.buyerAgentId }),
  }
}
