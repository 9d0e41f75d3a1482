// What a page loads, in bytes as they come over the network.
import type { Page } from 'playwright-core'

export interface Transfer {
  scripts: number
  styles: number
  document: number
}

/** Of what the page has loaded so far, also from the browser's cache. */
export const transferOf = (page: Page): Promise<Transfer> =>
  page.evaluate(() => {
    const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const [document] = performance.getEntriesByType('navigation') as PerformanceResourceTiming[]
    const sum = (ending: string) =>
      resources
        .filter(({ name }) => new URL(name).pathname.endsWith(ending))
        .reduce((bytes, { encodedBodySize }) => bytes + encodedBodySize, 0)
    return { scripts: sum('.js'), styles: sum('.css'), document: document?.encodedBodySize ?? 0 }
  })
