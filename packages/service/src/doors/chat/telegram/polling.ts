// Long polling. Telegram allows one poller for a bot, so one replica polls; another one takes over when it ends or loses its database
// connection. An update is confirmed when it was handled: after a crash Telegram delivers again what was not.
import { lead } from '@referrer/chain'
import { createLimiter } from '@referrer/process'
import type { Frame, Worker } from '../../../machinery/workers/frame.ts'
import { pause, pauseAfter, type Receiving, showMenu, untilDone, workerOf } from './set-up.ts'
import { ASKED_FOR } from './update.ts'

const POLL_SECONDS = 25
/** How much longer than the poll its answer may take. */
const SLACK_MS = 15_000
/** Telegram gives no more at once. */
const LIMIT = 100
/** How long a batch holds up the next poll; what takes longer goes on beside it. */
const PATIENCE_MS = 500
/** For all chats together: beyond it updates wait. */
const PACE = { perSecond: 100, burst: 100 }

export const pollingWorker = (receiving: Receiving): Worker =>
  workerOf((signal, frame) => {
    const { context, call } = receiving
    const databaseUrl = context.databaseUrl.reveal()
    const onStandby = () => frame.working()
    return lead({ databaseUrl, lock: 'telegram', signal, onStandby }, async ({ sql }) => {
      const unhook = () => call((api, aborted) => api.deleteWebhook({}, aborted), { signal })
      await untilDone(unhook, signal, frame)
      await showMenu(receiving, signal)
      await poll(receiving, async () => void (await sql`SELECT 1`), signal, frame)
    })
  })

/** `holdsLock` rejects when another replica may poll by now. */
async function poll(
  { context, call, handler }: Receiving,
  holdsLock: () => Promise<void>,
  signal: AbortSignal,
  frame: Frame,
): Promise<void> {
  const leaving = new AbortController()
  const ended = AbortSignal.any([signal, leaving.signal])
  const paceOf = createLimiter(PACE)
  /** Fetched and not handled yet: `working` on it, or it failed and is fetched again. */
  const open = new Set<number>()
  const working = new Map<number, Promise<void>>()
  /** Handled, but not confirmed, because an earlier one is open. */
  const handled = new Set<number>()
  /** The newest update that was begun. */
  let last = -1
  /** The first update that is not confirmed. */
  let offset = 0
  let failures = 0
  let trouble: unknown

  function start(id: number, update: unknown) {
    open.add(id)
    const work = handler(update, ended).then(
      () => {
        open.delete(id)
        handled.add(id)
      },
      (error: unknown) => {
        trouble = error
      },
    )
    working.set(
      id,
      work.finally(() => working.delete(id)),
    )
  }

  const fetchUpdates = (limit: number, seconds: number, aborted?: AbortSignal) =>
    call(
      (api, given) => api.getUpdates({ offset, limit, timeout: seconds, allowed_updates: ASKED_FOR }, given),
      {
        timeoutMs: seconds * 1_000 + SLACK_MS,
        ...(aborted && { signal: aborted }),
      },
    )

  async function round(): Promise<void> {
    const updates = withIds(await fetchUpdates(LIMIT, open.size > 0 ? 0 : POLL_SECONDS, signal))
    if (updates.size > 0) await holdsLock()
    // Telegram forgets after a day what could not be handled.
    for (const id of open) if (!working.has(id) && !updates.has(id)) open.delete(id)
    // After a week of silence the numbers begin anew, lower perhaps.
    if (updates.size === 0 && open.size === 0) last = -1
    for (const [id, update] of updates) {
      if (!working.has(id) && !handled.has(id)) {
        await pause(paceOf('all', context.clock()) * 1_000, signal)
        if (signal.aborted) break
        start(id, update)
      }
      last = Math.max(last, id)
    }
    await Promise.race([Promise.all(working.values()), pause(PATIENCE_MS, signal)])
    confirm()
    if (trouble !== undefined) {
      const error = trouble
      trouble = undefined
      throw error
    }
    failures = 0
    frame.working()
  }

  /** The next poll confirms whatever is older than the oldest open one. */
  function confirm() {
    offset = Math.min(last + 1, ...open)
    for (const id of handled) if (id < offset) handled.delete(id)
  }

  try {
    while (!signal.aborted) {
      try {
        await round()
      } catch (error) {
        if (signal.aborted) break
        await holdsLock()
        failures += 1
        frame.failing(error)
        await pauseAfter(error, failures, signal)
      }
    }
    await Promise.all(working.values())
    confirm()
    // So that the next poller does not handle again what was handled since the last poll.
    if (offset > 0) await fetchUpdates(1, 0).catch(() => {})
  } finally {
    leaving.abort()
    await Promise.all(working.values())
  }
}

/** One without a number could not be confirmed, so it is none of Telegram's. */
function withIds(updates: unknown): Map<number, unknown> {
  if (!Array.isArray(updates)) throw new Error('Telegram gave no list of updates')
  return new Map(
    updates
      .map((update: unknown): [unknown, unknown] => [
        (update as { update_id?: unknown } | null)?.update_id,
        update,
      ])
      .filter((entry): entry is [number, unknown] => Number.isSafeInteger(entry[0])),
  )
}
