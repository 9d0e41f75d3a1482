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
    await watchPaints(page)
    await arrive(page, place.path)
    measured.push({ ...(await paintsOf(page)), ...(await transferOf(page)) })
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
    const state = { queries: { mutations: [], queries: [] }, renderedAt: Date.now() }
    const body = html
      .replace(/<div id="app">[\s\S]*<\/div>/, '<div id="app"></div>')
      .replace(/(<script type="application\/json" id="state">)[^<]*/, `$1${JSON.stringify(state)}`)
    return route.fulfill({ response, body })
  })

interface Painted {
  lcp: number
  cls: number
}

/** Notes what is painted from the beginning: entries that are asked for afterwards come at a moment of the browser's choice. */
const watchPaints = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const painted = { lcp: Number.NaN, cls: 0 }
    Object.assign(window, { painted })
    new PerformanceObserver((list) => {
      painted.lcp = list.getEntries().at(-1)?.startTime ?? painted.lcp
    }).observe({ type: 'largest-contentful-paint', buffered: true })
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) painted.cls += (shift as unknown as { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
  })

/** The browser tells of the largest paint after the next frame. */
async function paintsOf(page: Page): Promise<Painted> {
  const painted = await page.waitForFunction(() => {
    const { painted } = window as unknown as { painted: Painted }
    return painted.lcp > 0 && painted
  })
  return painted.jsonValue() as Promise<Painted>
}
