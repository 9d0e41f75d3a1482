import { parseArgs } from 'node:util'
import { findChromium, NO_CHROMIUM } from '../../../packages/console/test/harness/chromium.ts'
import { startConsoleMarket } from '../../../packages/console/test/harness/market.ts'
import { isPublic, placesOf } from '../../../packages/console/test/harness/places.ts'
import { report } from '../report.ts'
import { fail, progress, warnIfBusy } from '../stage.ts'
import { type Measured, measurePage } from './measure.ts'

const HELP = `bench:console: how soon a page of the console is there, and what it loads, on a CPU four times slower

Compared, in turns, each with an empty cache, in the Chromium of this machine:
  ours     the page as the service sends it: rendered there
  in page  the same page without what the server rendered, as a plain single-page application would begin. Only for public pages: those
           that need a session are rendered in the browser anyway
LCP is when the largest part of the page is painted, CLS how much of it moved afterwards. Everything is the median of several rounds; the
sandbox and the browser share the machine's cores.

  --rounds <n>    rounds for each page (default 3)
  --page <route>  only this page, for instance /me/chat`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    rounds: { type: 'string', default: '3' },
    page: { type: 'string' },
  },
})

if (values.help) console.log(HELP)
else await main(Number(values.rounds), values.page).catch(fail)

async function main(rounds: number, only: string | undefined): Promise<void> {
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1')
  const chromium = findChromium()
  if (!chromium) throw new Error(NO_CHROMIUM)
  warnIfBusy()
  progress('starting the demo market')
  const market = await startConsoleMarket(chromium)
  try {
    const measured: Page[] = []
    const places = await placesOf(market.sandbox)
    const wanted = places.filter(({ route }) => only === undefined || route === only)
    if (wanted.length === 0)
      throw new Error(`there is no page ${only}: ${places.map(({ route }) => route).join(' ')}`)
    for (const place of wanted) {
      progress(place.route)
      const of = (isRenderedInPage: boolean) => measurePage(market, place, { rounds, isRenderedInPage })
      measured.push({
        route: place.route,
        ours: await of(false),
        ...(isPublic(place) && { inPage: await of(true) }),
      })
    }
    tell(measured)
  } finally {
    await market.end()
  }
}

interface Page {
  route: string
  ours: Measured
  inPage?: Measured
}

function tell(pages: Page[]): void {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows = pages.map(({ route, ours, inPage }) => {
    for (const [name, value] of Object.entries(ours)) figures[`${route} ${name}`] = value
    if (inPage) {
      figures[`${route} lcp in page`] = inPage.lcp
      ratios[`${route} lcp`] = inPage.lcp / ours.lcp
    }
    return {
      page: route,
      'LCP ms': ours.lcp.toFixed(0),
      'in page': inPage ? inPage.lcp.toFixed(0) : '',
      ratio: inPage ? (inPage.lcp / ours.lcp).toFixed(1) : '',
      CLS: ours.cls.toFixed(3),
      'JS KB': (ours.scripts / 1_000).toFixed(0),
      'CSS KB': (ours.styles / 1_000).toFixed(0),
      'HTML KB': (ours.document / 1_000).toFixed(0),
    }
  })
  report({ name: 'console', figures, ratios, rows })
}
