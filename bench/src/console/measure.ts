import type { Page } from 'playwright-core'
import type { ConsoleMarket } from '../../../packages/console/test/harness/market.ts'
import type { Place } from '../../../packages/console/test/harness/places.ts'
import { transferOf } from '../../../packages/console/test/harness/transfer.ts'
import { arrive } from '../../../packages/console/test/harness/visits.ts'

const SLOWER = 4

export interface Measured {
  /** Milliseconds from the navigation to the largest contentful paint. */
  lcp: number
  /** Cumulative layout shift, as browsers add it up. */
  cls: number
  /** Compressed bytes. */
  scripts: number
  styles: number
  document: number
}

interface Options {
  rounds: number
  /** Without what the server has rendered. */
  isRenderedInPage: boolean
}

export async function measurePage(
  market: ConsoleMarket,
  place: Place,
  { rounds, isRenderedInPage }: Options,
): Promise<Measured> {
  const measured: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    const { page, close } = await market.visit({ as: place.as })
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    if (isRenderedInPage) await dropRendered(page)
    await arrive(page, place.path)
    measured.push({ ...(await paints(page)), ...(await transferOf(page)) })
    await close()
  }
  const median = (key: keyof Measured) =>
    measured.map((one) => one[key]).sort((one, other) => one - other)[Math.floor(rounds / 2)] as number
  return {
    lcp: median('lcp'),
    cls: median('cls'),
    scripts: median('scripts'),
    styles: median('styles'),
    document: median('document'),
  }
}

/** The document with an empty place for the page and without its data: the browser asks for all of it. */
const dropRendered = (page: Page): Promise<unknown> =>
  page.route('**/*', async (route) => {
    if (route.request().resourceType() !== 'document') return route.fallback()
    const response = await route.fetch()
    const html = await response.text()
    const body = html
      .replace(/<div id="app">[\s\S]*<\/div>/, '<div id="app"></div>')
      .replace(/<script type="application\/json" id="state">[^<]*<\/script>/, '')
    return route.fulfill({ response, body })
  })

const paints = (page: Page): Promise<Pick<Measured, 'lcp' | 'cls'>> =>
  page.evaluate(async () => {
    const entriesOf = (type: string) =>
      new Promise<PerformanceEntry[]>((resolve) => {
        const observer = new PerformanceObserver((list) => resolve(list.getEntries()))
        observer.observe({ type, buffered: true })
        // A page on which nothing moved has no entry to observe.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(observer.takeRecords())))
      })
    const [largest, shifts] = await Promise.all([
      entriesOf('largest-contentful-paint'),
      entriesOf('layout-shift'),
    ])
    return {
      lcp: largest.at(-1)?.startTime ?? Number.NaN,
      cls: shifts.reduce((sum, shift) => sum + (shift as PerformanceEntry & { value: number }).value, 0),
    }
  })
