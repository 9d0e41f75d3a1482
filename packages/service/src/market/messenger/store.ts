import { createHash } from 'node:crypto'
import type { Queryable } from '@referrer/database'
import type { Schedule } from '../../machinery/workers/schedule.ts'

// Only hashes are stored, so that a leaked database reveals no valid code.
const hashOf = (code: string) => createHash('sha256').update(code).digest()

/** Marks a nonce as used, for all replicas; returns false when it was used before. To be called before anything else is done. */
export async function burnNonce(
  sql: Queryable,
  { chainId, nonce, expiry }: { chainId: number; nonce: Buffer; expiry: Date },
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO market.burned_nonces (chain_id, nonce, expiry) VALUES (${chainId}, ${nonce}, ${expiry})
    ON CONFLICT DO NOTHING`
  return count === 1
}

export interface NewCode {
  code: string
  /** Where the code is redeemed. */
  direction: 'web' | 'chat'
  owner: Buffer
  chainId: number
  agentId: bigint
  at: Date
  expiresAt: Date
}

/** Stores a code; other codes of the same owner stay valid. */
export async function insertCode(
  sql: Queryable,
  { code, direction, owner, chainId, agentId, at, expiresAt }: NewCode,
): Promise<void> {
  await sql`
    INSERT INTO market.link_codes (code_hash, direction, owner, chain_id, agent_id, minted_at, expires_at)
    VALUES (${hashOf(code)}, ${direction}, ${owner}, ${chainId}, ${agentId}, ${at}, ${expiresAt})`
}

/** Deletes expired codes and nonces. Nonces are kept for one more hour, because the clocks of replicas differ. */
export const sweepLinks: Schedule = {
  name: 'sweep-messenger-links',
  everySeconds: 600,
  async run({ sql }) {
    await sql`DELETE FROM market.link_codes WHERE expires_at < now()`
    await sql`DELETE FROM market.burned_nonces WHERE expiry < now() - INTERVAL '1 hour'`
  },
}
