// When the next message about a purchase is due, and what each outcome of a message changes. Pure.

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** Reminders come so many days after the purchase. */
const REMINDER_DAYS = [3, 14, 30, 50]
/** A purchase that is older is not confirmed any more, so that indexing an old chain sends no confirmations. */
const PING_DAYS = 7
/** A reminder that nobody knows to have arrived is followed by another at the latest after this time. */
const REPEAT_MS = 24 * HOUR_MS

export type Kind = 'ping' | 'reminder'

/** What the records say about a purchase. */
export type Purchase = {
  escrow_id: bigint
  /** Null: bought by a wallet, and not bound to an agent. */
  buyer_agent_id: bigint | null
  deposited_at: Date
  bound_at: Date | null
  window_end: Date
  settled_at: Date | null
  /** The buyer's review is published. */
  reviewed: boolean
}

/** What was sent so far; the columns are explained in the migration. */
export type Progress = {
  pinged: boolean
  done_at: Date | null
  remind_at: Date | null
  is_repeat: boolean
  attempts: number
  retry_at: Date | null
  sequence: number
  sending_channel: string | null
  sending_chat: string | null
}

export const NOTHING_SENT: Progress = {
  pinged: false,
  done_at: null,
  remind_at: null,
  is_repeat: false,
  attempts: 0,
  retry_at: null,
  sequence: 0,
  sending_channel: null,
  sending_chat: null,
}

/** The next message; undefined: nothing more is to be sent as things are. */
export function nextNotice(
  purchase: Purchase | undefined,
  progress: Progress,
  now: Date,
): { kind: Kind; at: Date } | undefined {
  if (!purchase || purchase.buyer_agent_id === null) return undefined
  const { deposited_at, bound_at, window_end } = purchase
  if (!progress.pinged && bound_at === null && now < later(deposited_at, PING_DAYS * DAY_MS)) {
    // The clock of a chain can be ahead of ours.
    return { kind: 'ping', at: latest(now < deposited_at ? now : deposited_at, progress.retry_at) }
  }
  if (!isRemindable(purchase, now)) return undefined
  const date = progress.remind_at ?? nextDate(deposited_at, latest(deposited_at, bound_at, progress.done_at))
  const at = date && latest(date, progress.retry_at)
  return at && at < window_end ? { kind: 'reminder', at } : undefined
}

/** Whether the owner still has something to be reminded of. */
export const isRemindable = (
  { buyer_agent_id, settled_at, reviewed, window_end }: Purchase,
  now: Date,
): boolean => buyer_agent_id !== null && settled_at === null && !reviewed && now < window_end

/** The first date of a reminder that is later than a moment. */
function nextDate(depositedAt: Date, than: Date): Date | undefined {
  return REMINDER_DAYS.map((days) => later(depositedAt, days * DAY_MS)).find((date) => date > than)
}

/** The message was sent, or is passed over. A moment that the owner has chosen meanwhile stands. */
export const done = (progress: Progress, now: Date): Progress => ({
  ...NOTHING_SENT,
  pinged: true,
  done_at: now,
  remind_at: progress.remind_at && progress.remind_at > now ? progress.remind_at : null,
  sequence: progress.sequence + 1,
})

/** The message was certainly not sent; the same one is tried again. */
export const tryAgain = (progress: Progress, retryAt: Date): Progress => ({
  ...progress,
  attempts: progress.attempts + 1,
  retry_at: retryAt,
  sending_channel: null,
  sending_chat: null,
})

/**
 * The message may have been sent, and must not be sent again. After a reminder the next one comes within a day, but a second such
 * reminder in a row only brings the next date, because a messenger that never answers would otherwise get one every day.
 */
export function unsure(progress: Progress, purchase: Purchase, now: Date): Progress {
  const after = done(progress, now)
  if (!progress.pinged || progress.is_repeat || after.remind_at) return after
  const repeatAt = later(now, REPEAT_MS)
  const date = nextDate(purchase.deposited_at, now)
  return date && date <= repeatAt ? after : { ...after, remind_at: repeatAt, is_repeat: true }
}

/** The message is on its way. After a reminder no confirmation is sent. */
export const sending = (
  progress: Progress,
  kind: Kind,
  { channel, chat }: { channel: string; chat: string },
): Progress => ({
  ...progress,
  pinged: progress.pinged || kind === 'reminder',
  sending_channel: channel,
  sending_chat: chat,
})

/** The next reminder comes at the moment that the owner chose. A message of which nobody knows whether it arrived is not tried again. */
export function snoozed(progress: Progress, until: Date, now: Date): Progress {
  const before = progress.sending_channel === null ? progress : done(progress, now)
  return {
    ...before,
    remind_at: until,
    is_repeat: false,
    ...(before.pinged && { attempts: 0, retry_at: null }),
  }
}

export const later = (date: Date, ms: number) => new Date(date.getTime() + ms)
const latest = (first: Date, ...others: (Date | null)[]) =>
  others.reduce<Date>((last, other) => (other && other > last ? other : last), first)
