import type { SenderEvent } from '@referrer/chain'
import type { Level, Logger } from 'pino'
import type { OnSettlement } from './settlement/events.ts'

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

/** Logs what the settler does in the background. */
export function createEventLog(log: Logger): OnSettlement {
  return (told) => {
    const { chainId: chain } = told
    if (told.type === 'sending') log.info({ chain, size: told.size }, 'sending')
    else if (told.type === 'ended') log.debug({ chain, seconds: told.seconds }, `payment ${told.status}`)
    else {
      const { type, ...event } = plain(told.event)
      // An account without gas is one line in the log, not one for each transaction that waits.
      const isTold = told.event.type === 'waiting' && told.event.lacksFunds
      log[isTold ? 'debug' : LEVELS[told.event.type]]({ chain, ...event }, `sender ${type}`)
    }
  }
}

/** JSON has no bigints, and the logger serialises errors under `err`. */
function plain(event: SenderEvent): Record<string, unknown> & { type: string } {
  const entries = Object.entries(event).map(([name, value]) => [
    name === 'error' ? 'err' : name,
    typeof value === 'bigint' ? String(value) : value,
  ])
  return Object.fromEntries(entries)
}
