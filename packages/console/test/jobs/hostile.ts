// Strangers fill the market: nothing of theirs runs in a page, and nothing breaks its layout.
import { beforeAll, expect, vi } from 'vitest'
import { onEveryPage } from '../harness/every-page.ts'
import { fillWithHostility, MARK } from '../harness/hostile.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { placesOf } from '../harness/places.ts'
import { traces } from '../harness/traces.ts'
import { PHONE } from '../harness/visits.ts'

/** Last: afterwards the market is not fit for anything else. */
export function hostile(market: () => ConsoleMarket): void {
  beforeAll(async () => {
    const { sandbox, origin } = market()
    const places = await placesOf(sandbox)
    const at = (route: string) => places.find((place) => place.route === route)?.as
    const [owner, merchant] = [at('/me'), at('/shop')]
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

  onEveryPage({
    market,
    title: (route) => `runs nothing and keeps its layout on ${route}`,
    // The endpoint is no address that could be asked.
    expected: /^400 \/v1\/merchant\/product\/readiness$/,
    async check(page) {
      await page.setViewportSize(PHONE)
      expect(await traces(page)).toEqual([])
      expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
    },
  })
}
