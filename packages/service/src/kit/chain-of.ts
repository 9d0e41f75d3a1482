import type { Chain, Context } from './context.ts'
import { MarketError } from './market-error.ts'

/** The chain that a caller names; undefined: the default one. */
export function chainOf({ chains, config }: Context, chainId: number | undefined): Chain {
  const chain = chains.get(chainId ?? config.chains[0].chainId)
  if (!chain) throw new MarketError('invalid input', 'chain_id not configured')
  return chain
}
