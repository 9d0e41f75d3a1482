// One test for each page of the console. Whoever is signed in keeps their browser from page to page, which saves most of the time.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConsoleMarket } from './market.ts'
import { type Place, placesOf, routesOfSources } from './places.ts'
import { arrive, type Visit } from './visits.ts'

export interface Look {
  market: () => ConsoleMarket
  title: (route: string) => string
  check: (page: Page, place: Place) => Promise<void>
  /** Failing answers that are right. */
  expected?: RegExp
}

export function onEveryPage({ market, title, check, expected }: Look): void {
  const visits = new Map<string, Visit>()
  let places: Place[]
  beforeAll(async () => {
    places = await placesOf(market().sandbox)
  })
  afterAll(async () => {
    for (const { close } of visits.values()) await close()
  })

  async function visitOf({ as }: Place): Promise<Visit> {
    const who = as?.address ?? ''
    const visit =
      visits.get(who) ?? (await market().visit({ as, isKept: true, ...(expected && { expected }) }))
    visits.set(who, visit)
    return visit
  }

  for (const route of routesOfSources()) {
    it(title(route), async () => {
      const place = places.find((one) => one.route === route)
      if (!place) throw new Error(`harness/places.ts has no address for ${route}`)
      const { page, problems } = await visitOf(place)
      await arrive(page, place.path)
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      await check(page, place)
      expect(problems.splice(0)).toEqual([])
    })
  }
}
