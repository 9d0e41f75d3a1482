import type { SenderEvent } from '@referrer/chain'
import { outsideRequests } from '@referrer/process'
import type { Level, Logger } from 'pino'
import type { OnSettlement, SettlementEvent } from './settlement/events.ts'

const LEVELS: Record<SenderEvent['type'], Level> = {
  active: 'info',
  signed: 'debug',
  stored: 'debug',
  broadcast: 'info',
  waiting: 'warn',
  unfunded: 'warn',
  funded: 'info',
  mined: 'info',
  reorganised: 'warn',
  confirmed: 'debug',
  failed: 'error',
  'nonce-lost': 'error',
  gap: 'error',
  trouble: 'warn',
  recovered: 'info',
}

/** Logs what the settler does in the background. Lines about a transaction name all requests whose payments are in it. */
export function createEventLog(log: Logger): OnSettlement {
  return (told) => outsideRequests(() => write(log, told))
}

function write(log: Logger, told: SettlementEvent): void {
  const { chainId: chain } = told
  if (told.type === 'sending') {
    const { size, intent, requestIds } = told
    log.info({ chain, size, intent: String(intent), ...requestsOf(requestIds) }, 'sending')
  } else if (told.type === 'ended') {
    const { seconds, requestId } = told
    log.debug({ chain, seconds, ...(requestId && { reqId: requestId }) }, `payment ${told.status}`)
  } else if (told.type === 'final') {
    log.debug({ chain, seconds: told.seconds }, `payment ${told.status} for good`)
  } else {
    const { type, origin, ...event } = told.event
    // An account without gas is one line in the log, not one for each transaction that waits.
    const isTold = told.event.type === 'waiting' && told.event.lacksFunds
    const line = { chain, ...plain(event), ...requestsOf(origin?.requestIds ?? []) }
    log[isTold ? 'debug' : LEVELS[type]](line, `sender ${type}`)
  }
}

const requestsOf = (requestIds: readonly string[]) => (requestIds.length > 0 ? { reqIds: requestIds } : {})

/** JSON has no bigints, and the logger serialises errors under `err`. */
function plain(event: object): Record<string, unknown> {
  const entries = Object.entries(event).map(([name, value]) => [
    name === 'error' ? 'err' : name,
    typeof value === 'bigint' ? String(value) : value,
  ])
  return Object.fromEntries(entries)
}
