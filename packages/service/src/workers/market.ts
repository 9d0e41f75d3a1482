import { sweepSeenRequests } from '../auth/replays.ts'
import { sweepSessions } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import type { Work } from './index.ts'

/** What the market does by itself. */
export function marketWork(_context: Context): Work {
  return { queues: [], schedules: [sweepSeenRequests, sweepSessions] }
}
