import type { Config } from '../../kit/config.ts'
import type { Context } from '../../kit/context.ts'
import type { Messenger, Reception } from './reception.ts'

/** The messengers of this deployment. Links made without naming a messenger lead to the first one. */
export function openMessengers(_config: Config, _fetch: typeof globalThis.fetch): Messenger[] {
  return []
}

/** How the messages of all messengers come in. */
export function receiveMessages(_context: Context, _messengers: readonly Messenger[]): Reception {
  return { workers: [], hooks: [] }
}
