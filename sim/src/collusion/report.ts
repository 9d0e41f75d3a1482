// The tables of what an attacker can gain who searches for the best strategy.
import { THE_RULES } from '../rules.ts'
import { table, usdc } from '../table.ts'
import type { Arena } from './play.ts'
import { type Best, profitOf, searchFor } from './search.ts'
import { describe } from './strategy.ts'

export const SIZES = [1, 2, 3, 5, 10, 20, 50, 100]
/** From 0.01 USDC to more than the commission of all sales in a simulated year, which is about 6,700 USDC. */
export const VOLUMES = [4, 5, 6, 7, 8, 9, 10].map((digits) => 10n ** BigInt(digits))
/** How long the attacker searches in the arena that matters, and in the others. */
const TRIES = { random: 300, neighbours: 60 }
const FEW_TRIES = { random: 60, neighbours: 10 }

const STANDINGS: Arena = { rules: THE_RULES, isVerified: true }

export const arenas = {
  standings: { about: 'ten honest shops are verified', arena: STANDINGS },
  without: { about: 'no shop is verified', arena: { rules: THE_RULES, isVerified: false } },
  partner: {
    about: 'the ring’s shops are verified, too',
    arena: { ...STANDINGS, isPartnerVerified: true },
  },
  oneSale: { about: 'all is sold by a single sale', arena: { ...STANDINGS, isOneSale: true } },
} satisfies Record<string, { about: string; arena: Arena }>

export type Found = (Best | undefined)[][]

/** For each size of the ring and each volume. */
export const search = (arena: Arena, progress: (line: string) => void): Found =>
  SIZES.map((k) => {
    progress(`${k} owners`)
    const tries = arena === STANDINGS ? TRIES : FEW_TRIES
    return searchFor(k, { arena, volumes: VOLUMES, tries, seed: 1 })
  })

const volumeName = (volume: bigint) => usdc(volume).replace(/\.?0+$/, '')

/** What the best attack brings for each USDC that it costs. Above 1 it pays. */
export const ratioOf = (best: Best | undefined): string => {
  if (!best) return 'nothing'
  return best.cost === 0n ? 'free' : (Number(best.gain) / Number(best.cost)).toFixed(3)
}

export const ratioTable = (found: Found): string => byVolume(found, ratioOf)

export const profitTable = (found: Found): string =>
  byVolume(found, (best) => (best ? usdc(profitOf(best)) : 'nothing'))

function byVolume(found: Found, cell: (best: Best | undefined) => string): string {
  return table(
    found.map((bests, at) => ({
      'k \\ volume': SIZES[at] ?? 0,
      ...Object.fromEntries(bests.map((best, of) => [`${volumeName(VOLUMES[of] ?? 0n)} `, cell(best)])),
    })),
  )
}

/** The strategy that comes closest to paying, or brings most, for each size of the ring. */
export const strategyTable = (found: Found): string =>
  found
    .flatMap((bests) => bests.at(-1) ?? [])
    .map(
      (best) =>
        `k = ${best.k}: costs ${usdc(best.cost)}, brings ${usdc(best.gain)}: ${describe(best.strategy)}`,
    )
    .join('\n')

/** The largest part of its cost that any attack brings. Above 1 it pays. */
export const worstOf = (found: Found): number =>
  Math.max(...found.flat().map((best) => (best ? Number(best.gain) / Number(best.cost) : 0)))

/** All that the search tells, each arena in turn. */
export function searchReport(
  progress: (line: string) => void,
  onFound: (standings: Found, without: Found) => void,
): string {
  const found = (name: keyof typeof arenas) =>
    search(arenas[name].arena, (line) => progress(`${arenas[name].about}: ${line}`))
  const standings = found('standings')
  const [without, partner, oneSale] = [found('without'), found('partner'), found('oneSale')]
  onFound(standings, without)
  return `An attacker with k owners knows the rules and searches among strategies: purchases at verified, honest and own shops, several stars, own
shops without commission, all on one day or day by day, sleep, fresh wallets, bought agents. Volume is what the stars sell to strangers, as
commission in USDC at rank 1. A cell says what the attack that comes closest to paying, or brings most, brings for each USDC it costs.

What it assumes, and where that is not so, is in docs/ranks.md: then attacks pay.

Ten honest shops are verified: at most ${worstOf(standings).toFixed(3)}

${ratioTable(standings)}

${strategyTable(standings)}

The same without verified shops

${ratioTable(without)}

What that is in USDC, after the cost

${profitTable(without)}

If the ring's own shops are verified, in USDC after the cost

${profitTable(partner)}

If the whole volume is one single sale, larger than all before, in USDC after the cost

${profitTable(oneSale)}`
}

/** The largest part of its cost that an attack brings in an arena, after a short search with twenty owners. */
export const worstAgainst = (arena: Arena): number =>
  worstOf([searchFor(20, { arena, volumes: VOLUMES, tries: { random: 150, neighbours: 20 }, seed: 1 })])
