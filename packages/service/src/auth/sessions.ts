import { createHash, randomBytes } from 'node:crypto'
import type { Address } from 'viem'
import { type Context, once } from '../context.ts'
import { bytesOf } from '../db/bytes.ts'
import { gather } from '../gather.ts'
import { address } from '../present.ts'
import type { Schedule } from '../workers/schedule.ts'

/** 32 random bytes. */
export const TOKEN = /^[\w-]{43}$/

// Whoever reads the database learns no token.
const hashOf = (token: string) => createHash('sha256').update(token).digest()

export async function openSession(
  { sql, clock, config }: Context,
  caller: Address,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(clock() + config.sessionSeconds * 1_000)
  await sql`
    INSERT INTO market.sessions (token_hash, address, expires_at)
    VALUES (${hashOf(token)}, ${bytesOf(caller)}, ${expiresAt})`
  return { token, expiresAt }
}

/** Whose session it is; nobody's once it has expired or was closed. */
export async function sessionOf(context: Context, token: string): Promise<Address | undefined> {
  const row = await read(context)(hashOf(token))
  if (!row || row.expires_at.getTime() <= context.clock()) return undefined
  return address(context.recovery, row.address)
}

type SessionRow = { token_hash: Buffer; address: Buffer; expires_at: Date }

const read = once(({ sql }) =>
  gather<Buffer, SessionRow | undefined>({
    keyOf: (hash) => hash.toString('latin1'),
    ask: async (hashes) => {
      const rows = await sql<SessionRow[]>`
        SELECT token_hash, address, expires_at FROM market.sessions WHERE token_hash = ANY(${hashes}::bytea[])`
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
