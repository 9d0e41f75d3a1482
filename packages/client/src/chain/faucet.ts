import type { Address } from 'viem'

/** What a faucet gave, or that it gave nothing because the address has enough. */
export interface Gift {
  address: Address
  /** Wei. */
  eth: bigint
  /** USDC base units. */
  usdc: bigint
}

/** Asks the faucet of a sandbox for gas and USDC. */
export async function askFaucet(faucetUrl: string, address: Address, fetchFn = fetch): Promise<Gift> {
  const response = await fetchFn(faucetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  const answer = (await response.json().catch(() => ({}))) as { eth?: string; usdc?: string; error?: string }
  if (!response.ok || answer.eth === undefined || answer.usdc === undefined) {
    throw new Error(`the faucet gave nothing: ${answer.error ?? `status ${response.status}`}`)
  }
  return { address, eth: BigInt(answer.eth), usdc: BigInt(answer.usdc) }
}
