// What holds for each page: nobody is shut out, little is loaded, nothing moves or sticks out.
import { beforeAll, expect, it } from 'vitest'
import { findings } from '../harness/axe.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { isPublic, type Place, placesOf, routesOfSources } from '../harness/places.ts'
import { countTransfer } from '../harness/transfer.ts'
import { PHONE } from '../harness/visits.ts'

const PUBLIC_BYTES = 150_000
const PRIVATE_BYTES = 300_000

export function everyPage(market: () => ConsoleMarket): void {
  let places: Place[]
  beforeAll(async () => {
    places = await placesOf(market().sandbox)
  })

  it('is looked at here', () => {
    expect(places.map(({ route }) => route).sort()).toEqual(routesOfSources())
  })

  for (const route of routesOfSources()) {
    it(`${route} is accessible in both themes, small, and as wide as a phone`, async () => {
      const place = places.find((one) => one.route === route) as Place
      const { page } = await market().visit({ as: place.as })
      const transferred = countTransfer(page)
      await page.goto(place.path, { waitUntil: 'networkidle' })
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      const { scripts, encodings } = await transferred()
      expect(scripts).toBeGreaterThan(0)
      expect(scripts).toBeLessThanOrEqual(isPublic(place) ? PUBLIC_BYTES : PRIVATE_BYTES)
      expect(encodings).toEqual(new Set(['br']))
      expect(await findings(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await findings(page, ['color-contrast'])).toEqual([])
      await page.setViewportSize(PHONE)
      expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
    })
  }
}
