import { type Context, once } from '../../kit/context.ts'
import { oldestDue } from './store.ts'

/** What became of the messages that this process sent or passed over. */
export type Outcome = 'sent' | 'retried' | 'unsure' | 'blocked' | 'refused' | 'passed'

export const countNotices = once(
  (): Record<Outcome, number> => ({ sent: 0, retried: 0, unsure: 0, blocked: 0, refused: 0, passed: 0 }),
)

/** How long the longest due notice waits. */
export async function oldestNoticeSeconds({
  sql,
  chains,
  clock,
}: Pick<Context, 'sql' | 'chains' | 'clock'>): Promise<number> {
  const dueAt = await oldestDue(sql, [...chains.keys()])
  return dueAt ? Math.max(0, (clock() - dueAt.getTime()) / 1_000) : 0
}
