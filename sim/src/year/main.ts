import { readOptions } from '../options.ts'
import { runYear, TICKS_A_DAY } from './run.ts'
import { summaryOf } from './summary.ts'
import { verifyYear } from './verify.ts'
import { FULL_SCALE, type RingStyle, scaled } from './world.ts'

const DAYS_OF_REPORT = 30

const HELP = `sim:year: a year of the market, with honest and colluding reviewers

${FULL_SCALE.agents} agents, ${FULL_SCALE.products} products, ${FULL_SCALE.purchases} purchases, in memory, by the service's rules and with its arithmetic. Nine of ten agents are honest: they
buy what well-ranked authors praise, vote for reviews that proved right, and say what they found. The others are in rings of several sizes.
Then it tells how the ranks ended, and where every unit of the money is.

  --seed <n>      seed of the random numbers (default 1)
  --scale <x>     a smaller market: 0.1 is a tenth of everything (default 1; with --verify 0.1)
  --quiet         rings that lie about nothing but their own products, which they sell only to themselves
  --verify        write the same history into a database as it happens, let the service's own followers work on it, and compare every
                  Review Rank, Product Rank and finding with those here
  --help`

const values = readOptions({
  options: {
    seed: { type: 'string', default: '1' },
    scale: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const share = Number(values.scale ?? (values.verify ? '0.1' : '1'))

if (values.help) console.log(HELP)
else if (!Number.isSafeInteger(seed) || !(share >= 0.02 && share <= 10)) {
  console.error('--seed takes a whole number, --scale one from 0.02 to 10')
  process.exitCode = 1
} else await main(values.quiet ? 'quiet' : 'loud')

async function main(style: RingStyle): Promise<void> {
  const scale = scaled(share)
  const verifying = values.verify ? await verifyYear() : undefined
  try {
    const world = await runYear({
      seed,
      scale,
      style,
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
