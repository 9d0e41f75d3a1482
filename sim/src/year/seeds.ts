// The same year with many seeds, by the rules in force and as it would be if no shop were verified.
import { PRODUCT_TYPES } from '@referrer/ranking'
import { worstAgainst } from '../collusion/report.ts'
import { designs } from '../designs.ts'
import { THE_RULES } from '../rules.ts'
import { table } from '../table.ts'
import type { Figures } from './figures.ts'
import { runYears, type Year } from './pool.ts'
import type { RingStyle, Scale } from './world.ts'

const STYLES: RingStyle[] = ['loud', 'quiet']

export async function runSeeds(
  seeds: number,
  scale: Scale,
  verified: number,
  progress: (line: string) => void,
): Promise<string> {
  const years = Array.from({ length: seeds }, (_, at) => at + 1).flatMap((seed) =>
    STYLES.flatMap((style) =>
      [false, true].map((isIgnored): Year => ({ seed, style, scale, verified, isIgnored })),
    ),
  )
  const all = await runYears(years, (done) => progress(`${done} of ${years.length} years`))
  const of = (style: RingStyle, isIgnored: boolean) =>
    all.filter(({ year }) => year.style === style && year.isIgnored === isIgnored)
  return STYLES.map((style) => summary(style, of(style, true), of(style, false))).join('\n\n')
}

/** Each design in years with quiet rings, and what the best attack brings against it for each USDC it costs. */
export async function compareDesigns(
  scale: Scale,
  verified: number,
  progress: (line: string) => void,
): Promise<string> {
  const years = designs.flatMap(({ name }) =>
    [1, 2].map((seed): Year => ({ seed, style: 'quiet', scale, verified, isIgnored: false, design: name })),
  )
  const all = await runYears(years, (done) => progress(`${done} of ${years.length} years`))
  const rows = designs.map(({ name, design }) => {
    const own = all.filter(({ year }) => year.design === name)
    progress(`attacks on ${name}`)
    const worst = worstAgainst({ rules: THE_RULES, isVerified: true, design })
    const of = (pick: (figures: Figures) => number) => mean(own.map(pick)).toFixed(3)
    return {
      design: name,
      'pairs, repeat': of(({ types }) => types.repeat.pairs),
      'pairs, one_off': of(({ types }) => types.one_off.pairs),
      'honest, repeat': of(({ types }) => types.repeat.honest),
      'niche, not verified': of(({ types }) => types.repeat.nicheUnverified),
      'cold start': of(({ coldStart }) => coldStart.mean),
      'best attack': worst.toFixed(3),
    }
  })
  const about = designs.map((one) => `${one.name}: ${one.about}`).join('\n')
  return `${about}\n\n${table(rows)}`
}

function summary(style: RingStyle, without: readonly Figures[], within: readonly Figures[]): string {
  const rows = [
    { what: 'without verified shops', years: without },
    { what: 'with standings', years: within },
  ].flatMap(({ what, years }) =>
    PRODUCT_TYPES.map((type) => {
      const of = (pick: (figures: Figures['types'][typeof type]) => number) =>
        years.map(({ types }) => pick(types[type]))
      return {
        [`${style} rings`]: what,
        type,
        'pairs, worst seed': percent(Math.min(...of(({ pairs }) => pairs))),
        'mean of seeds': percent(mean(of(({ pairs }) => pairs))),
        honest: mean(of(({ honest }) => honest)).toFixed(3),
        colluding: mean(of(({ colluding }) => colluding)).toFixed(3),
        newcomers: mean(of(({ newcomers }) => newcomers)).toFixed(3),
        'niche, verified': mean(of(({ nicheVerified }) => nicheVerified)).toFixed(3),
        'niche, not verified': mean(of(({ nicheUnverified }) => nicheUnverified)).toFixed(3),
      }
    }),
  )
  const falls = PRODUCT_TYPES.map((type) =>
    Math.max(...within.map(({ types }, at) => (without[at]?.types[type].honest ?? 0) - types[type].honest)),
  )
  const times = within.map(({ coldStart }, at) => coldStart.mean / (without[at]?.coldStart.mean ?? 1))
  const cold = (years: readonly Figures[]) =>
    `${mean(years.map(({ coldStart }) => coldStart.mean)).toFixed(2)} purchases (${years.reduce((sum, { coldStart }) => sum + coldStart.never, 0)} never)`
  const error = (years: readonly Figures[], key: 'verified' | 'unverified') =>
    mean(years.map(({ productError }) => productError[key])).toFixed(3)
  return `${table(rows)}

${style} rings, ${within.length} seeds:
the honest mean falls by at most ${falls.map((fall, at) => `${fall.toFixed(3)} (${PRODUCT_TYPES[at]})`).join(' and ')} in any seed;
a newcomer has its first rank after ${cold(without)} without and ${cold(within)} with standings, ${Math.max(...times).toFixed(2)} times as many in the worst seed;
Product Ranks of honest shops are off by ${error(without, 'verified')} and ${error(within, 'verified')} (verified shops), ${error(without, 'unverified')} and ${error(within, 'unverified')} (others)`
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const percent = (share: number) => `${(100 * share).toFixed(2)} %`
