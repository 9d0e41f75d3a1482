import { writeFileSync } from 'node:fs'
import { readOptions } from '../options.ts'
import { THE_RULES } from '../rules.ts'
import { usdc } from '../table.ts'
import { type Attack, attacks } from './attacks.ts'
import { boundOf } from './gain.ts'
import { drawGains } from './picture.ts'
import { costTable, legend, rankTable, smearTable, switchTable, tryAll } from './print.ts'
import { type Found, searchReport } from './report.ts'
import { drawReturns } from './returns-picture.ts'

const FOUND = new URL('./found.json', import.meta.url)
const RETURNS = new URL('../../../docs/images/attacks.svg', import.meta.url)
const PICTURE = new URL('../../../docs/images/collusion.svg', import.meta.url)

const HELP = `sim:collusion: what a ring of k owners who act as one gains by the attacks that are tried here

Each attack is carried out in a market in memory that keeps the service's rules and uses its arithmetic. Beside the k owners a ring has a
wallet that is lifted (the star) and one that sells. Ranks are of repeat products, on the day of the attack: half of the evidence is gone
180 days later. Votes cost nothing but the purchase that they come with; gas is given as a count of transactions. What is bought at shops of
others is worth nothing to the ring, the ring's shops have no honest customers, and a rank brings its multiplier only: where that is not so,
attacks pay (docs/ranks.md, "What is not stopped").

  --search         search for the best strategy only, with and without verified shops
  --full <units>   commission, in base units, from which on a purchase counts in full (RANK_FULL_COMMISSION, default ${THE_RULES.full})
  --picture        also draw docs/images/collusion.svg and attacks.svg
  --help`

const values = readOptions({
  options: {
    full: { type: 'string' },
    search: { type: 'boolean' },
    picture: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
if (values.help) console.log(HELP)
else if (values.full !== undefined && !/^[1-9]\d{0,14}$/.test(values.full)) {
  console.error('--full takes a whole number of base units above 0, such as --full 1000000 for 1 USDC')
  process.exitCode = 1
} else {
  if (values.full === undefined) {
    console.log(`${searchReport((line) => console.error(line), keep)}\n`)
  }
  if (!values.search)
    main(values.full === undefined ? THE_RULES.full : BigInt(values.full), values.picture === true)
}

/** Keeps the strategies that were found: a test plays them again, and compares with the documentation. */
function keep(found: Found, without: Found): void {
  const strategies = found.map((bests) => bests.map((best) => best?.strategy ?? null))
  writeFileSync(FOUND, `${JSON.stringify(strategies)}\n`)
  if (!values.picture) return
  const curves = [
    { label: 'no shop is verified', colour: '#b3261e', found: without },
    { label: 'with verified shops', colour: '#3566c9', found },
  ]
  writeFileSync(RETURNS, drawReturns(curves))
}

function main(full: bigint, isDrawn: boolean): void {
  const rules = { ...THE_RULES, full }
  const tried = tryAll(rules)
  console.log(`The scripted attacks, where no shop is verified. A purchase counts in full from ${usdc(full)} USDC of commission on. A newcomer has rank 0.5, multiplier 0.7.

${legend(tried)}

The rank reached, when k owners help

${rankTable(tried)}

What it takes and what it brings, in USDC; volume is commission as it would be at rank 1

${costTable(tried)}

Without each rule

${switchTable(rules)}

Bringing an honest reviewer down: ten products that it praised rightly, each bought by k owners who say the worst

${smearTable(rules)}`)
  if (!isDrawn) return
  const shown: Attack[] = [attacks.everything, attacks.ownShop, attacks.manyAgents, attacks.selfVotes]
  const lines = tried.filter(({ attack }) => shown.includes(attack))
  writeFileSync(PICTURE, drawGains(lines, boundOf))
  console.log('\ndrawn in docs/images/collusion.svg')
}
