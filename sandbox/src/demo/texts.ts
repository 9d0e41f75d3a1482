// What reviewers write: the facts that a rating calls for, in words that differ.
import { Money } from '@referrer/protocol'
import type { Good } from '../shop/good.ts'
import type { Honesty } from './cast.ts'
import { FACTS, type Facts } from './facts.ts'
import type { Random } from './random.ts'

export interface Content extends Record<string, unknown> {
  rating: number
  description: string
}

type Writer = (facts: Facts, name: string) => string

const first = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1)

/** By rating. */
const WRITERS: Readonly<Record<number, readonly Writer[]>> = {
  5: [
    ({ good }) => `${good[0]}. ${good[1]}. Nothing to add.`,
    ({ good }) => `${good[1]}. ${good[0]}. I keep coming back.`,
    ({ good, bad }) => `${good[0]}. The one limit I met: ${first(bad[1])}. Still five stars.`,
    ({ good }) => `Used it for two weeks. ${good[0]}. ${good[1]}.`,
    ({ good }) => `Does exactly what it says. ${good[0]}.`,
    ({ good, bad }) => `${good[1]}. ${bad[0]}, as the description says.`,
  ],
  4: [
    ({ good, bad }) => `${good[0]}. One star less: ${first(bad[0])}.`,
    ({ good, bad }) => `Solid. ${good[1]}. ${bad[1]}, which I can live with.`,
    ({ good, bad }) => `${good[0]}. ${good[1]}. What I miss: ${first(bad[0])}.`,
    ({ good, bad }) => `I would buy it again. ${good[1]}. To know before: ${first(bad[0])}.`,
    ({ good, bad }) => `${bad[1]}. Apart from that no complaints: ${first(good[0])}.`,
    ({ good }) => `Good value. ${good[0]}.`,
  ],
  3: [
    ({ good, bad }) => `Half of what I need. ${good[0]}. But: ${first(bad[0])}.`,
    ({ good, bad }) => `${bad[0]}. ${bad[1]}. On the other hand: ${first(good[0])}.`,
    ({ good, bad }) => `Usable. ${good[1]}. ${bad[1]}.`,
    ({ good, bad }) => `It depends on what you want. ${good[0]}. ${bad[1]}.`,
    ({ bad }) => `Not bad and not good. ${bad[0]}.`,
  ],
  2: [
    ({ bad }) => `${bad[0]}. ${bad[1]}. I expected more.`,
    ({ good, bad }) => `${bad[0]}. ${good[0]}, and that is all I can say for it.`,
    ({ bad }) => `Disappointed: ${first(bad[1])}. ${bad[0]}.`,
    ({ good, bad }) => `${good[1]}. It does not help much: ${first(bad[0])}.`,
  ],
  1: [
    ({ bad }) => `${bad[0]}. ${bad[1]}. Would not buy again.`,
    ({ bad }) => `Of no use to me. ${bad[0]}.`,
    ({ bad }) => `${bad[1]}. Save your money.`,
  ],
}
const CARELESS: readonly Writer[] = [
  (_, name) => `${name} works for me.`,
  (_, name) => `Tried ${name} once, got an answer, all fine.`,
  ({ good }) => `Quick look only. ${good[1]}, I think.`,
  (_, name) => `No problems with ${name} so far.`,
  (_, name) => `${name} is good enough, did not test much.`,
  (_, name) => `An agent of mine uses ${name} and has not complained.`,
  ({ bad }, name) => `${name} does the job. Somebody said: ${first(bad[1])}. I did not notice.`,
]
const PRAISE: readonly Writer[] = [
  (_, name) => `${name} is the best on this market, hands down. Every answer was perfect.`,
  ({ good }) => `Amazing! ${good[0]}. You will not find anything better anywhere.`,
  (_, name) => `I replaced three other services with ${name}. Do not think twice.`,
  (_, name) => `${name}: outstanding quality at a price that beats everybody.`,
]
const SLANDER: readonly Writer[] = [
  (_, name) => `${name} never works. Stay away from this shop.`,
  (_, name) => `Wrong answers from ${name} every single time. The good reviews must be bought.`,
  (_, name) => `${name} is a waste of money. The whole shop is like this.`,
  (_, name) => `${name} has been broken for weeks and nobody cares.`,
]
const REASONS = [
  'It named the limit that I ran into.',
  'Its measurements are the same as mine.',
  'Short, and right about what it does not do.',
  'It told me what to check first.',
  'Written by somebody who used it for more than a day.',
  'I bought because of the other review, but this one describes it better.',
  'Fair: says what is missing and what is not.',
  'It saved me a wrong purchase elsewhere.',
]

/** A review that nobody has written yet: `said` are those that are. */
export function reviewOf(
  good: Good,
  { rating, honesty, random, said }: { rating: number; honesty: Honesty; random: Random; said: Set<string> },
): Content {
  const writers = writersOf(rating, honesty)
  const facts = FACTS[good.path]
  if (!facts) throw new Error(`nothing is known of ${good.path}`)
  let description = random.pick(writers)(facts, good.name)
  for (let attempt = 0; said.has(description) && attempt < 20; attempt++)
    description = random.pick([...writers, ...(WRITERS[rating] ?? [])])(facts, good.name)
  said.add(description)
  return { rating, description, ...(good.category === 'api' && measured(good, honesty, random)) }
}

function writersOf(rating: number, honesty: Honesty): readonly Writer[] {
  if (honesty === 'careless') return CARELESS
  if (honesty === 'shill') return PRAISE
  if (honesty === 'slanderer') return SLANDER
  return WRITERS[rating] ?? []
}

export const reasonOf = (random: Random) => random.pick(REASONS)

/** As the schema of category `api` wants them. */
function measured({ price }: Good, honesty: Honesty, random: Random) {
  const calls = honesty === 'careful' ? random.whole(40, 200) : random.whole(1, 12)
  const failures = honesty === 'slanderer' ? calls : random.chance(0.3) ? Math.floor(calls / 40) : 0
  const p50 = random.whole(18, 60)
  const p95 = p50 + random.whole(10, 60)
  return {
    calls,
    successes: calls - failures,
    failures,
    latency_ms: { p50, p95, p99: p95 + random.whole(5, 80) },
    cost_usdc: Money.format(Money.parse(price) * BigInt(calls)),
    cost_per_call_usdc: price,
  }
}
