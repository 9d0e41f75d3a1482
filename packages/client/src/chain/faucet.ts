import type { Address } from 'viem'

/**
 * What a faucet gave: nothing of what the address has enough of.
 *
 * @example
 * ```ts
 * import type { Gift } from '@referrer/client/chain'
 *
 * export const isEmpty = ({ eth, usdc }: Gift): boolean => eth === 0n && usdc === 0n
 * ```
 */
export interface Gift {
  address: Address
  /** Wei. */
  eth: bigint
  /** USDC base units. */
  usdc: bigint
}

const LONGEST_MS = 30_000
/** Its words are a stranger's: as much of them as says why. */
const LONGEST_SAYING = 200

/**
 * Asks the faucet of a sandbox for gas and USDC.
 *
 * @example
 * ```ts
 * import { askFaucet } from '@referrer/client/chain'
 *
 * const given = { address: '0x…', eth: '1000000000000000000', usdc: '100000000' }
 * const gift = await askFaucet('http://127.0.0.1:8085', `0x${'11'.repeat(20)}`, async () => Response.json(given))
 * gift.usdc // → 100_000_000n
 * ```
 */
export async function askFaucet(
  faucetUrl: string,
  address: Address,
  fetchFn: typeof fetch = fetch,
): Promise<Gift> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new Error(`the faucet at ${faucetUrl} gave nothing: ${why}`, { cause })
  }
  const response = await fetchFn(faucetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
    signal: AbortSignal.timeout(LONGEST_MS),
    redirect: 'error',
  }).catch((error: unknown) => refuse('it does not answer', error))
  const answer: unknown = await response.json().catch(() => undefined)
  const { eth, usdc, error } = (answer ?? {}) as Record<string, unknown>
  if (!response.ok || !isAmount(eth) || !isAmount(usdc)) {
    return refuse(typeof error === 'string' ? error.slice(0, LONGEST_SAYING) : `status ${response.status}`)
  }
  return { address, eth: BigInt(eth), usdc: BigInt(usdc) }
}

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,30}$/.test(value)
