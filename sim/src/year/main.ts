import { readOptions } from '../options.ts'
import { runYear, TICKS_A_DAY, VERIFIED } from './run.ts'
import { compareDesigns, runSeeds } from './seeds.ts'
import { summaryOf } from './summary.ts'
import { verifyYear } from './verify.ts'
import { FULL_SCALE, type RingStyle, scaled } from './world.ts'

const DAYS_OF_REPORT = 30
const SEEDS = 20

const HELP = `sim:year: years of the market, with honest and colluding reviewers

${FULL_SCALE.agents} agents, ${FULL_SCALE.products} products, ${FULL_SCALE.purchases} purchases, in memory, by the service's rules and with its arithmetic. Nine of ten agents are honest: they
buy what well-ranked authors praise, vote for reviews that proved right, and say what they found. Some of them begin in the middle of the year,
some buy at one shop only. The others are in rings of several sizes: loud ones praise bad products and give bad ratings to good ones, quiet ones
lie about nothing but their own products, which they sell only to themselves. Four of five honest shops are verified. Rings that buy like
everybody and only vote for each other are not simulated: they stand above the honest (docs/ranks.md, "What is not stopped").

Without --seed it simulates ${SEEDS} years of both kinds, each with standings and, for comparison, as if no shop were verified.
It takes a quarter of an hour on two cores.

  --seeds <n>     how many years of each kind (default ${SEEDS})
  --seed <n>      one year, with all that can be told of it: ranks, rings, money, detection
  --scale <x>     a smaller market: 0.1 is a tenth of everything (default 1; with --verify 0.1)
  --verified <x>  the part of honest shops that are verified (default ${VERIFIED.verified})
  --quiet         one year with quiet rings (with --seed; default loud)
  --verify        one year; write the same history into a database as it happens, let the service's own followers work on it, and compare
                  every Review Rank, Product Rank, finding and spending with those here
  --designs       compare other ways to compute standings, on quiet rings
  --help`

const values = readOptions({
  options: {
    seeds: { type: 'string', default: String(SEEDS) },
    seed: { type: 'string' },
    scale: { type: 'string' },
    verified: { type: 'string', default: String(VERIFIED.verified) },
    quiet: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    designs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? 1)
const seeds = Number(values.seeds)
const share = Number(values.scale ?? (values.verify ? '0.1' : '1'))
const verified = Number(values.verified)
const isWhole = (number: number) => Number.isSafeInteger(number) && number >= 0
const progress = (line: string) => console.error(line)

if (values.help) console.log(HELP)
else if (
  ![seed, seeds].every(isWhole) ||
  !(share >= 0.02 && share <= 10) ||
  !(verified >= 0 && verified <= 1)
) {
  console.error(
    '--seed and --seeds take a whole number, --scale one from 0.02 to 10, --verified one from 0 to 1',
  )
  process.exitCode = 1
} else if (values.designs) console.log(await compareDesigns(scaled(share), verified, progress))
else if (values.seed === undefined && !values.verify && !values.quiet) {
  console.log(await runSeeds(seeds, scaled(share), verified, progress))
} else await main(values.quiet ? 'quiet' : 'loud')

async function main(style: RingStyle): Promise<void> {
  const scale = scaled(share)
  const verifying = values.verify ? await verifyYear() : undefined
  try {
    const world = await runYear({
      seed,
      scale,
      style,
      trust: { verified },
      onBegin: ({ market }) => verifying?.compare(market, false),
      onTick: async ({ market }, { number, isLast }) => {
        await verifying?.compare(market, isLast)
        const day = (number + 1) / TICKS_A_DAY
        if (day % DAYS_OF_REPORT !== 0) return
        console.error(`day ${day}: ${market.purchases.length} purchases, ${market.reviews.length} reviews`)
      },
    })
    const { agents, products, purchases } = scale
    console.log(
      `${agents} agents, ${products} products, ${purchases} purchases, seed ${seed}, ${style} rings\n`,
    )
    console.log(summaryOf(world))
    if (verifying)
      console.log(`\n${verifying.compared()} comparisons with the service's own tables: all equal`)
  } finally {
    await verifying?.end()
  }
}
