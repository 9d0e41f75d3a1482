// An attacker with k owners searches for the strategy that brings most, for each volume that the stars sell.
import { Random } from '../random.ts'
import { type Arena, type Outcome, play } from './play.ts'
import { anyStrategy, knownStrategies, neighbourOf, type Strategy } from './strategy.ts'

export type Best = Outcome & { k: number; volume: bigint; strategy: Strategy }

export type Search = {
  arena: Arena
  volumes: readonly bigint[]
  /** How many strategies are tried at random, and how many neighbours of the best one of each volume. */
  tries: { random: number; neighbours: number }
  seed: number
}

/** The best strategy found for each volume; none: nothing that was tried brings anything. */
export function searchFor(k: number, { arena, volumes, tries, seed }: Search): (Best | undefined)[] {
  const random = new Random(seed * 1_000 + k)
  const best: (Best | undefined)[] = volumes.map(() => undefined)
  const tryOut = (strategy: Strategy) => {
    for (const [at, outcome] of play(strategy, arena, volumes).entries()) {
      const known = best[at]
      // An attack that brings nothing is none.
      if (outcome.gain <= 0n || (known && !isBetter(outcome, known))) continue
      best[at] = { ...outcome, k, volume: volumes[at] ?? 0n, strategy }
    }
  }
  for (const strategy of knownStrategies(k)) tryOut(strategy)
  for (let count = 0; count < tries.random; count++) tryOut(anyStrategy(random, k))
  for (let at = 0; at < volumes.length; at++) {
    for (let count = 0; count < tries.neighbours; count++) {
      const from = best[at]
      if (from) tryOut(neighbourOf(random, from.strategy, k))
    }
  }
  return best
}

/** As long as nothing pays, the attack that comes closest to it is the better one. */
function isBetter(one: Outcome, other: Outcome): boolean {
  if (profitOf(one) > 0n || profitOf(other) > 0n) return profitOf(one) > profitOf(other)
  return one.gain * other.cost > other.gain * one.cost
}

export const profitOf = ({ gain, cost }: Outcome): bigint => gain - cost
