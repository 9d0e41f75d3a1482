// The rank of a product over time. It is computed from the opinions that count today: one that was withdrawn or replaced is gone from the
// past, too. The last point is the present rank.
import { dateOf, dayOf, MILLION, productRank } from '@referrer/ranking'
import type { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { whole } from '../../kit/json-values.ts'
import type { ProductKey } from '../../kit/keys.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import type { ProductHistory } from './shapes.ts'
import { type OpinionDayRow, type OpinionsRow, opinionDays, opinionsOf, salesDays } from './store.ts'

const DAYS = 366
/** The mean of a chain without opinions. */
const MIDDLE = MILLION / 2

export async function productHistory(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  key: ProductKey,
): Promise<z.output<typeof ProductHistory>> {
  const today = dayOf(new Date(clock()))
  const first = dateOf(today - DAYS + 1)
  const [all, days, sales] = await inOneSnapshot(sql, (tx) =>
    Promise.all([opinionsOf(tx, key), opinionDays(tx, key, first), salesDays(tx, key, first)]),
  )
  return {
    points: pointsOf(all, days, { first, today: dateOf(today) }),
    sales: sales.map(({ day, count, revenue }) => ({
      day,
      count: whole(count),
      revenue_usdc: whole(revenue),
    })),
  }
}

type Points = z.output<typeof ProductHistory>['points']

/** `days` are the last ones of all opinions; what came before them is the difference. */
export function pointsOf(
  all: OpinionsRow,
  days: readonly OpinionDayRow[],
  { first, today }: { first: string; today: string },
): Points {
  const mean = all.mean ?? MIDDLE
  const sum = { opinions: all.opinions, weight: all.weight, weighted: all.weighted }
  for (const day of days) add(sum, day, -1)
  const point = (day: string) => ({
    day,
    product_rank: productRank(mean, sum) / MILLION,
    opinions: sum.opinions,
  })
  const points: Points = sum.opinions > 0 ? [point(first)] : []
  for (const day of days) {
    add(sum, day, 1)
    const next = point(day.day)
    if (next.product_rank === points.at(-1)?.product_rank && day.day < today) continue
    if (points.at(-1)?.day === next.day) points.pop()
    points.push(next)
  }
  // The chain's clock may be ahead of ours.
  if ((points.at(-1)?.day ?? '') < today) points.push(point(today))
  return points
}

function add(
  sum: { opinions: number; weight: bigint; weighted: bigint },
  { opinions, weight, weighted }: OpinionDayRow,
  sign: 1 | -1,
): void {
  sum.opinions += sign * opinions
  sum.weight += BigInt(sign) * weight
  sum.weighted += BigInt(sign) * weighted
}
