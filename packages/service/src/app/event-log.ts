import type { Origin } from '@referrer/chain'
import { outsideRequests } from '@referrer/process'
import type { Level, Logger } from 'pino'
import type { WorkEvent } from './workers.ts'

const LEVELS: Record<WorkEvent['type'], Level> = {
  'schedule.done': 'debug',
  'schedule.failed': 'error',
  'schedule.lost': 'warn',
  'schedule.released': 'info',
  'indexer.active': 'info',
  'indexer.applied': 'debug',
  'indexer.rolled-back': 'warn',
  'indexer.caught-up': 'trace',
  'indexer.failed': 'warn',
  'indexer.recovered': 'info',
  'sender.active': 'info',
  'sender.signed': 'debug',
  'sender.stored': 'debug',
  'sender.broadcast': 'info',
  'sender.waiting': 'warn',
  'sender.unfunded': 'warn',
  'sender.funded': 'info',
  'sender.mined': 'info',
  'sender.reorganised': 'warn',
  'sender.confirmed': 'info',
  'sender.failed': 'error',
  'sender.nonce-lost': 'error',
  'sender.gap': 'error',
  'sender.trouble': 'warn',
  'sender.recovered': 'info',
  'worker.failed': 'error',
  'worker.failing': 'error',
  'worker.recovered': 'info',
  'worker.stuck': 'error',
}

const PROGRESS_MS = 2_000

/** Logs the events of workers. While a chain is read from its beginning, a line every two seconds tells the progress. */
export function createEventLog(log: Logger, now: () => number = Date.now): (event: WorkEvent) => void {
  const toldAt = new Map<number, number>()
  return (event) => {
    const { type, ...rest } = plain(event)
    const isProgress = event.type === 'indexer.applied' && event.isFinal
    const isDue = isProgress && now() - (toldAt.get(event.chain) ?? 0) >= PROGRESS_MS
    if (isDue) toldAt.set(event.chain, now())
    // `sender.unfunded` warns of an account without gas once; its waiting transactions are not warned of one by one.
    const isTold = event.type === 'sender.waiting' && event.lacksFunds
    outsideRequests(() => log[isDue ? 'info' : isTold ? 'debug' : LEVELS[event.type]](rest, type))
  }
}

/** JSON has no bigints, and the logger prints errors under their own name. Of the origin of a transaction the requests are shown. */
function plain(event: WorkEvent): Record<string, unknown> & { type: string } {
  const { origin, ...told } = event as WorkEvent & { origin?: Origin }
  const shown = origin?.requestIds.length ? { ...told, reqIds: origin.requestIds } : told
  const entries = Object.entries(shown).map(([name, value]) => [
    name === 'error' ? 'err' : name,
    typeof value === 'bigint' ? String(value) : value,
  ])
  return Object.fromEntries(entries)
}
