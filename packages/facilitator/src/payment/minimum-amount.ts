import { Money } from '@referrer/protocol'
import type { Chain } from '../context.ts'

/** Why the amount is too small; undefined: it is not. */
export function tooLittle({ leastAmount, network }: Chain, amount: bigint): string | undefined {
  if (amount >= leastAmount) return undefined
  const inUsdc = (units: bigint) => `${units} base units (${Money.format(units)} USDC)`
  return `amount ${inUsdc(amount)} does not pay for its own gas: at least ${inUsdc(leastAmount)} is settled on ${network}`
}
