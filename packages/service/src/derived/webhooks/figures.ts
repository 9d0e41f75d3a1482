import { type Context, once } from '../../kit/context.ts'
import { oldestDue } from '../../market/webhooks/deliveries.ts'

/** What became of the attempts of this process; `disabled` counts webhooks that it has given up. */
export type Outcome = 'delivered' | 'retried' | 'given_up' | 'disabled'

export const countMessages = once(
  (): Record<Outcome, number> => ({ delivered: 0, retried: 0, given_up: 0, disabled: 0 }),
)

/** How long the longest due webhook waits for a worker. */
export async function oldestWebhookSeconds({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Promise<number> {
  const now = clock()
  const dueAt = await oldestDue(sql, new Date(now))
  return dueAt ? (now - dueAt.getTime()) / 1_000 : 0
}
