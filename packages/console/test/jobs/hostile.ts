// Strangers fill the market: nothing of theirs runs in a page, and nothing breaks its layout.
import type { Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import { fillWithHostility, MARK } from '../harness/hostile.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { type Place, placesOf, routesOfSources } from '../harness/places.ts'

/** Last: afterwards the market is not fit for anything else. */
export function hostile(market: () => ConsoleMarket): void {
  let places: Place[]
  beforeAll(async () => {
    const { sandbox, origin } = market()
    places = await placesOf(sandbox)
    const at = (route: string) => places.find((place) => place.route === route) as Place
    const [owner, merchant] = [at('/me').as, at('/shop').as]
    if (!owner || !merchant) throw new Error('nobody is signed in there')
    await fillWithHostility(sandbox, { owner, merchant })
    await vi.waitUntil(
      async () =>
        (await (await fetch(`${origin}/v1/product?merchant_id=${merchant.merchantId}`)).text()).includes(
          MARK,
        ),
      { timeout: 20_000 },
    )
  })

  for (const route of routesOfSources()) {
    it(`runs nothing and keeps its layout on ${route}`, async () => {
      const { path, as } = places.find((place) => place.route === route) as Place
      const { page } = await market().visit({ as, isPhone: true })
      await page.goto(path, { waitUntil: 'networkidle' })
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      expect(await traces(page)).toEqual([])
      expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
    })
  }
}

/** What only somebody else's markup or script can have left. */
const traces = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const elements = document.querySelectorAll(
      'iframe, object, embed, marquee, style, img[src^="http"], script:not([src]):not([type="application/json"]):not([type="application/ld+json"]), a[href^="javascript:" i], a[href^="data:" i]',
    )
    const names = [...elements].map(({ outerHTML }) => outerHTML.slice(0, 200))
    const window = globalThis as { pwned?: unknown }
    if (window.pwned !== undefined) names.push(`a script ran: ${window.pwned}`)
    if ('polluted' in {}) names.push('the prototype of all objects was changed')
    return names
  })
