import type { Chain, Context } from './context.ts'
import { MarketError } from './market-error.ts'

/** The chain with this id, or the default chain when the caller gave none. */
export function chainOf({ chains, config }: Context, chainId: number | undefined): Chain {
  const chain = chains.get(chainId ?? config.chains[0].chainId)
  if (!chain) throw new MarketError('invalid input', 'chain_id not configured')
  return chain
}
