import type { Level, Logger } from 'pino'
import type { WorkEvent } from './index.ts'

const LEVELS: Record<WorkEvent['type'], Level> = {
  'job.done': 'debug',
  'job.retry': 'warn',
  'job.dead': 'error',
  'job.lost': 'warn',
  'job.released': 'info',
  'schedule.done': 'debug',
  'schedule.failed': 'error',
  'schedule.lost': 'warn',
  'schedule.released': 'info',
  'worker.failed': 'error',
  'worker.failing': 'error',
  'worker.recovered': 'info',
  'worker.stuck': 'error',
}

export function logEvent(log: Logger, { type, ...event }: WorkEvent): void {
  const { error, id, ...rest } = { error: undefined, id: undefined, ...event }
  const level = type === 'job.done' && error !== undefined ? 'warn' : LEVELS[type]
  log[level]({ ...rest, ...(id === undefined ? {} : { job: String(id) }), err: error }, type)
}
