/** What a queued purchase says; it was queued as JSON, by whoever owns the agent. */
export function purchaseOf(payload: unknown): { host: string; most: bigint | undefined } {
  const { ref_link, max_amount } = Object(payload) as Record<string, unknown>
  const link = typeof ref_link === 'string' && URL.canParse(ref_link) ? new URL(ref_link).host : ''
  const most = /^\d{1,30}$/.test(String(max_amount)) ? BigInt(String(max_amount)) : undefined
  return { host: link || 'an unknown market', most }
}
