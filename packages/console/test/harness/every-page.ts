// One test for each page of the console. Public pages and those of people who are signed in are looked at at the same time; everybody
// keeps their browser profile from page to page.
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
  const visits = new Map<string | undefined, Visit>()
  /** What became of the look at each route. */
  const looks = new Map<string, Promise<void>>()

  async function visitOf({ as }: Place): Promise<Visit> {
    const visit =
      visits.get(as?.address) ?? (await market().visit({ as, isKept: true, ...(expected && { expected }) }))
    visits.set(as?.address, visit)
    return visit
  }

  async function lookAt(place: Place): Promise<void> {
    const { page, problems } = await visitOf(place)
    await arrive(page, place.path)
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await check(page, place)
    expect(problems.splice(0)).toEqual([])
  }

  beforeAll(async () => {
    const places = (await placesOf(market().sandbox)).sort((a, b) => (a.route < b.route ? -1 : 1))
    for (const lane of Map.groupBy(places, ({ as }) => as === undefined).values()) {
      let before: Promise<unknown> = Promise.resolve()
      for (const place of lane) {
        const look = before.then(() => lookAt(place))
        looks.set(place.route, look)
        // Its own test tells; the next page is looked at all the same.
        before = look.catch(() => {})
      }
    }
  })
  afterAll(async () => {
    for (const { close } of visits.values()) await close()
  })

  for (const route of routesOfSources()) {
    it(title(route), async () => {
      const look = looks.get(route)
      if (!look) throw new Error(`harness/places.ts has no address for ${route}`)
      await look
    })
  }
}
