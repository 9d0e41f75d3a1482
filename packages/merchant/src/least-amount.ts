import { Money, type X402 } from '@referrer/protocol'
import type { MarketSettings } from './config.ts'

type Fields = Record<string, unknown>

/** What a facilitator's `/supported` says about a network: undefined where it does not settle there; `least` 0 where it names none. */
export function termsOfSettling(
  supported: unknown,
  network: X402.Network.Network,
): { least: bigint } | undefined {
  const { kinds } = fieldsOf(supported)
  const kind = (Array.isArray(kinds) ? kinds : [])
    .map(fieldsOf)
    .find((each) => each.scheme === 'exact' && each.network === network)
  if (!kind) return undefined
  const { leastAmount } = fieldsOf(kind.extra)
  const isAmount = typeof leastAmount === 'string' && /^[0-9]{1,78}$/.test(leastAmount)
  return { least: isAmount ? BigInt(leastAmount) : 0n }
}

/** The least amount that the facilitator settles. Throws where it cannot be told. */
export async function readLeast(
  { facilitatorUrl, network }: Pick<MarketSettings, 'facilitatorUrl' | 'network'>,
  supported: () => Promise<unknown>,
): Promise<bigint> {
  let answer: unknown
  try {
    answer = await supported()
  } catch (cause) {
    throw new Error(`${facilitatorUrl} does not say what it settles: check facilitatorUrl`, { cause })
  }
  const terms = termsOfSettling(answer, network)
  if (!terms) throw new Error(`${facilitatorUrl} does not settle on ${network}: name another facilitator`)
  return terms.least
}

/** Refuses a price that the facilitator does not settle. */
export function requireLeast(amount: bigint, least: bigint): void {
  if (amount >= least) return
  throw new Error(
    `the price ${Money.format(amount)} USDC is below the least amount ${Money.format(least)} USDC that the facilitator settles: raise it`,
  )
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
