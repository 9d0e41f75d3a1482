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
const hashOf = (text: string) => createHash('sha256').update(text).digest()
/** A session that may only read has a hash of another kind: a version that knows full sessions only does not find it. */
const readingHashOf = (token: string) => hashOf(`reads only ${token}`)
const hashesOf = (token: string) => [hashOf(token), readingHashOf(token)]

export interface Session {
  token: string
  address: Address
  mayOnlyRead: boolean
  expiresAt: Date
}

/** Longest User-Agent that is stored, in characters. */
const LONGEST_USER_AGENT = 200

/** The account of a session or signature. */
export interface Holder {
  address: Address
  /**
   * Set for contract wallets: the session is valid on this chain only, because the address may belong to somebody else on another chain.
   */
  chainId: number | undefined
  /** Of a session that was opened by a signature that names nothing. */
  mayOnlyRead: boolean
}

/** Lifetime of a session that may only read, where that of others is not shorter. */
const READING_SECONDS = 600

/** A credential that may open one session only. */
interface Once {
  digest: Buffer
  forgetAt: Date
}

/** Opens a session; returns undefined when the credential `once` was used before. Of concurrent calls, on any replica, one wins. */
export async function openSession(
  { sql, clock, config }: Context,
  { address: caller, chainId, mayOnlyRead }: Holder,
  { userAgent = '', once }: { userAgent?: string | undefined; once?: Once } = {},
): Promise<Session | undefined> {
  const token = randomBytes(32).toString('base64url')
  const fullSeconds = config.adminAddresses.has(caller) ? config.adminSessionSeconds : config.sessionSeconds
  const seconds = mayOnlyRead ? Math.min(READING_SECONDS, fullSeconds) : fullSeconds
  const openedAt = new Date(clock())
  const expiresAt = new Date(openedAt.getTime() + seconds * 1_000)
  const { count } = await sql`
    WITH first AS (${once ? remember(sql, once) : sql`SELECT`})
    INSERT INTO market.sessions (token_hash, address, chain_id, may_only_read, opened_at, expires_at, user_agent)
    SELECT ${mayOnlyRead ? readingHashOf(token) : hashOf(token)}, ${bytesOf(caller)}, ${chainId ?? null}::bigint, ${mayOnlyRead}::boolean, ${openedAt}::timestamptz,
      ${expiresAt}::timestamptz, ${userAgent.slice(0, LONGEST_USER_AGENT)} FROM first`
  return count === 1 ? { token, address: caller, mayOnlyRead, expiresAt } : undefined
}

const remember = (sql: Queryable, { digest, forgetAt }: Once) => sql`
  INSERT INTO market.seen_requests (digest, forget_at) VALUES (${digest}, ${forgetAt})
  ON CONFLICT DO NOTHING RETURNING digest`

/** The holder of a session, and its end; undefined when it is unknown, expired or closed. */
export async function sessionOf(
  context: Context,
  token: string,
): Promise<(Holder & { expiresAt: Date }) | undefined> {
  const rows = await Promise.all(hashesOf(token).map(read(context)))
  const row = rows.find((each) => each !== undefined)
  if (!row || row.expires_at.getTime() <= context.clock()) return undefined
  const chainId = row.chain_id === null ? undefined : Number(row.chain_id)
  return {
    address: address(context.recovery, row.address),
    chainId,
    mayOnlyRead: row.may_only_read,
    expiresAt: row.expires_at,
  }
}

type HolderRow = {
  token_hash: Buffer
  address: Buffer
  chain_id: bigint | null
  may_only_read: boolean
  expires_at: Date
}

const read = once(({ sql }) =>
  createLoader<Buffer, HolderRow | undefined>({
    keyOf: (hash) => hash.toString('latin1'),
    load: async (hashes) => {
      const rows = await sql<HolderRow[]>`
        SELECT token_hash, address, chain_id, may_only_read, expires_at FROM market.sessions
        WHERE token_hash = ANY(${hashes}::bytea[])`
      return hashes.map((hash) => rows.find(({ token_hash }) => token_hash.equals(hash)))
    },
  }),
)

export async function closeSession({ sql }: Context, token: string): Promise<void> {
  await sql`DELETE FROM market.sessions WHERE token_hash = ANY(${hashesOf(token)}::bytea[])`
}

export type SessionRow = {
  session_id: string
  opened_at: Date
  expires_at: Date
  user_agent: string
  is_current: boolean
  may_only_read: boolean
}

/** Limit for the sessions in a list. */
export const LISTED_SESSIONS = 100

/**
 * SQL for the sessions `s` of the holder of the session with this token. The session of a contract wallet stands for its address on one
 * chain only, so it has no part in the sessions of other chains.
 */
const ofSameHolder = (sql: Queryable, token: string) => sql`
  market.sessions AS own JOIN market.sessions AS s
    ON s.address = own.address AND (own.chain_id IS NULL OR s.chain_id = own.chain_id)
  WHERE own.token_hash = ANY(${hashesOf(token)}::bytea[])`

/** The open sessions of a session's holder, newest first. */
export function listSessions({ sql, clock }: Context, token: string): Promise<SessionRow[]> {
  return sql<SessionRow[]>`
    SELECT s.session_id, s.opened_at, s.expires_at, s.user_agent, s.may_only_read,
      s.token_hash = own.token_hash AS is_current
    FROM ${ofSameHolder(sql, token)} AND s.expires_at > ${new Date(clock())}
    ORDER BY s.opened_at DESC, s.session_id LIMIT ${LISTED_SESSIONS}`
}

/** Closes a session of the same holder; returns false when the holder has no such session. */
export async function closeSessionById({ sql, clock }: Context, token: string, id: string): Promise<boolean> {
  const { count } = await sql`
    DELETE FROM market.sessions WHERE session_id = (
      SELECT s.session_id FROM ${ofSameHolder(sql, token)} AND s.session_id = ${id} AND s.expires_at > ${new Date(clock())})`
  return count > 0
}

/** Closes all sessions of the holder but this one. */
export async function closeOtherSessions({ sql }: Context, token: string): Promise<void> {
  await sql`
    DELETE FROM market.sessions WHERE token_hash IN (
      SELECT s.token_hash FROM ${ofSameHolder(sql, token)} AND s.token_hash <> own.token_hash)`
}

export const sweepSessions: Schedule = {
  name: 'sweep-sessions',
  everySeconds: 600,
  async run({ sql }) {
    await sql`DELETE FROM market.sessions WHERE expires_at < now()`
  },
}
