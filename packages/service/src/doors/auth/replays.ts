import { createHash } from 'node:crypto'
import { createLoader } from '@referrer/process'
import { RequestSignature } from '@referrer/protocol'
import type { Address } from 'viem'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

export interface SignedRequest {
  method: string
  /** The normalized target: the same for all spellings of the URL. */
  target: () => string
  /** The exact bytes of the body. */
  body: Buffer
}

/** How long a request could be replayed: a timestamp is valid for the window before and after the present time. */
const REMEMBERED_SECONDS = 2 * RequestSignature.WINDOW_SECONDS + 1
const SWEPT_AT_ONCE = 10_000

interface Seen {
  digest: Buffer
  /** In seconds. */
  forgetAt: number
}

/**
 * Stores a digest of each request in the database before the request is handled, so that only one of its copies is accepted, across all
 * replicas. The digest stays when the request fails afterwards; a retry needs a new signature.
 */
export function firstSightOf({ sql }: Pick<Context, 'sql'>): (seen: Seen) => Promise<boolean> {
  let asked = 0n
  return createLoader<Seen, boolean>({
    // Every call has its own key, because copies in one batch must not share an answer.
    keyOf: () => asked++,
    load: async (seen) => {
      // All replicas insert in the same order, to avoid deadlocks.
      const sorted = seen.toSorted((a, b) => Buffer.compare(a.digest, b.digest))
      const rows = await sql<{ digest: Buffer }[]>`
        INSERT INTO market.seen_requests (digest, forget_at)
        SELECT digest, to_timestamp(at)
        FROM unnest(${sorted.map(({ digest }) => digest)}::bytea[], ${sorted.map(({ forgetAt }) => forgetAt)}::bigint[])
          AS seen (digest, at)
        ON CONFLICT DO NOTHING RETURNING digest`
      const fresh = new Set(rows.map(({ digest }) => digest.toString('latin1')))
      return seen.map(({ digest }) => fresh.delete(digest.toString('latin1')))
    },
  })
}

/** Replay protection of requests that a wallet signed. */
export function replayGuard(context: Pick<Context, 'sql'>) {
  const isFirst = firstSightOf(context)
  return (signer: Address, timestamp: number, { method, target, body }: SignedRequest): Promise<boolean> => {
    const bodyHash = createHash('sha256').update(body).digest('hex')
    const digest = createHash('sha256')
      .update(JSON.stringify([signer, method, target(), bodyHash, timestamp]))
      .digest()
    return isFirst({ digest, forgetAt: timestamp + REMEMBERED_SECONDS })
  }
}

/** Deletes requests that can no longer be replayed. */
export const sweepSeenRequests: Schedule = {
  name: 'sweep-seen-requests',
  everySeconds: 60,
  async run({ sql, signal }) {
    for (;;) {
      signal.throwIfAborted()
      const { count } = await sql`
        DELETE FROM market.seen_requests WHERE digest IN (
          SELECT digest FROM market.seen_requests WHERE forget_at < now() ORDER BY forget_at LIMIT ${SWEPT_AT_ONCE})`
      if (count < SWEPT_AT_ONCE) return
    }
  },
}
