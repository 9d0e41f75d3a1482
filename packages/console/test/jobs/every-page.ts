// What holds for each page: nobody is shut out, little is loaded, nothing sticks out.
import { expect } from 'vitest'
import { findings } from '../harness/axe.ts'
import { onEveryPage } from '../harness/every-page.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { isPublic } from '../harness/places.ts'
import { transferOf } from '../harness/transfer.ts'
import { DESKTOP, PHONE } from '../harness/visits.ts'

const PUBLIC_BYTES = 150_000
const PRIVATE_BYTES = 300_000

export function everyPage(market: () => ConsoleMarket): void {
  onEveryPage({
    market,
    title: (route) => `${route} is accessible in both themes, small, and no wider than a phone`,
    async check(page, place) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize(DESKTOP)
      const { scripts } = await transferOf(page)
      expect(scripts).toBeGreaterThan(0)
      expect(scripts).toBeLessThanOrEqual(isPublic(place) ? PUBLIC_BYTES : PRIVATE_BYTES)
      expect(await findings(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await findings(page, ['color-contrast'])).toEqual([])
      await page.setViewportSize(PHONE)
      expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
    },
  })
}
