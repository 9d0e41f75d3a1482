// Counts refusals by kind, for the metrics. Kinds are ours: no text of a caller becomes a label.
import { once } from './context.ts'
import { MarketError } from './market-error.ts'

export type RefusalDoor = 'http' | 'mcp'
/** `failed`: our own fault. */
export type RefusalKind = MarketError['kind'] | 'unauthenticated' | 'failed'

const DOORS: readonly RefusalDoor[] = ['http', 'mcp']
const KINDS: readonly RefusalKind[] = [
  'invalid input',
  'not found',
  'already exists',
  'conflict',
  'unauthorized',
  'unauthenticated',
  'rate limited',
  'unavailable',
  'failed',
]

/** All kinds are there from the start, so that the first refusal of a kind shows as an increase. */
const counts = once(
  () =>
    new Map(
      DOORS.flatMap((door) =>
        KINDS.map((kind) => [`${door} ${kind}`, { door, kind, count: 0 }] satisfies [string, object]),
      ),
    ),
)

type Counted = Parameters<typeof counts>[0]

export function countRefusal(context: Counted, door: RefusalDoor, kind: RefusalKind): void {
  const counted = counts(context).get(`${door} ${kind}`)
  if (counted) counted.count += 1
}

export const kindOf = (error: unknown): RefusalKind => (error instanceof MarketError ? error.kind : 'failed')

/** All that were counted in this process. */
export const refusalCounts = (context: Counted) => [...counts(context).values()]
