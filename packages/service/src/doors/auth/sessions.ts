import { createHash, randomBytes } from 'node:crypto'
import type { Queryable } from '@referrer/database'
import { createLoader } from '@referrer/process'
import type { Address } from 'viem'
import { type Context, once } from '../../kit/context.ts'
import { address } from '../../kit/json-values.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

/** A session token: 32 random bytes as base64url. */
export const TOKEN = /^[\w-]{43}$/

// Only hashes are stored, so that a leaked database reveals no valid token.
const hashOf = (token: string) => createHash('sha256').update(token).digest()

export interface Session {
  token: string
  expiresAt: Date
}

/** The account of a session or signature. */
export interface Holder {
  address: Address
  /**
   * Set for contract wallets: the session is valid on this chain only, because the address may belong to somebody else on another chain.
   */
  chainId: number | undefined
}

/** A credential that may open one session only. */
interface Once {
  digest: Buffer
  forgetAt: Date
}

/** Opens a session; returns undefined when the credential `once` was used before. Of concurrent calls, on any replica, one wins. */
export async function openSession(
  { sql, clock, config }: Context,
  { address: caller, chainId }: Holder,
  once?: Once,
): Promise<Session | undefined> {
  const token = randomBytes(32).toString('base64url')
  const seconds = config.adminAddresses.has(caller) ? config.adminSessionSeconds : config.sessionSeconds
  const expiresAt = new Date(clock() + seconds * 1_000)
  const { count } = await sql`
    WITH first AS (${once ? remember(sql, once) : sql`SELECT`})
    INSERT INTO market.sessions (token_hash, address, chain_id, expires_at)
    SELECT ${hashOf(token)}, ${bytesOf(caller)}, ${chainId ?? null}::bigint, ${expiresAt}::timestamptz FROM first`
  return count === 1 ? { token, expiresAt } : undefined
}

const remember = (sql: Queryable, { digest, forgetAt }: Once) => sql`
  INSERT INTO market.seen_requests (digest, forget_at) VALUES (${digest}, ${forgetAt})
  ON CONFLICT DO NOTHING RETURNING digest`

/** The holder of a session; undefined when it is unknown, expired or closed. */
export async function sessionOf(context: Context, token: string): Promise<Holder | undefined> {
  const row = await read(context)(hashOf(token))
  if (!row || row.expires_at.getTime() <= context.clock()) return undefined
  const chainId = row.chain_id === null ? undefined : Number(row.chain_id)
  return { address: address(context.recovery, row.address), chainId }
}

type SessionRow = { token_hash: Buffer; address: Buffer; chain_id: bigint | null; expires_at: Date }

const read = once(({ sql }) =>
  createLoader<Buffer, SessionRow | undefined>({
    keyOf: (hash) => hash.toString('latin1'),
    load: async (hashes) => {
      const rows = await sql<SessionRow[]>`
        SELECT token_hash, address, chain_id, expires_at FROM market.sessions WHERE token_hash = ANY(${hashes}::bytea[])`
      return hashes.map((hash) => rows.find(({ token_hash }) => token_hash.equals(hash)))
    },
  }),
)

export async function closeSession({ sql }: Context, token: string): Promise<void> {
  await sql`DELETE FROM market.sessions WHERE token_hash = ${hashOf(token)}`
}

export const sweepSessions: Schedule = {
  name: 'sweep-sessions',
  everySeconds: 600,
  async run({ sql }) {
    await sql`DELETE FROM market.sessions WHERE expires_at < now()`
  },
}
