// Whoever only reads needs no JavaScript: people, crawlers and agents.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ConsoleMarket } from '../harness/market.ts'
import { isPublic, type Place, placesOf, routesOfSources } from '../harness/places.ts'
import { arrive, type Visit } from '../harness/visits.ts'

const PREVIEW = { width: 1_200, height: 630 }
const PNG = '89504e470d0a1a0a'

export function reading(market: () => ConsoleMarket): void {
  let places: Place[]
  let without: Visit
  let running: Visit
  beforeAll(async () => {
    places = await placesOf(market().sandbox)
    without = await market().visit({ withoutScripts: true, isKept: true })
    running = await market().visit({ isKept: true })
  })
  afterAll(async () => {
    await Promise.all([without, running].map((visit) => visit?.close()))
  })

  const shown = async ({ page }: Visit, path: string, isRunning: boolean) => {
    await (isRunning ? arrive(page, path) : page.goto(path))
    return page.locator('main').evaluate((main) => ({
      headings: [...main.querySelectorAll('h1, h2, h3')].map(({ textContent }) => textContent),
      links: [...main.querySelectorAll('a')].map((link) => link.getAttribute('href')),
    }))
  }

  for (const route of routesOfSources().filter((one) => isPublic({ route: one, path: one }))) {
    it(`finds the same on ${route} without JavaScript, and what it is about in its head`, async () => {
      const { path } = places.find((place) => place.route === route) as Place
      // What derives from a settlement may change the order of a list between the two.
      await vi.waitFor(
        async () => {
          const bare = await shown(without, path, false)
          expect(bare.headings.length).toBeGreaterThan(0)
          expect(await shown(running, path, true)).toEqual(bare)
        },
        { timeout: 120_000, interval: 500 },
      )

      const head = await headOf(without)
      expect(head).toMatchObject({
        description: expect.stringMatching(/\S/),
        'og:title': expect.stringMatching(/\S/),
        'og:description': expect.stringMatching(/\S/),
        'og:url': expect.stringContaining(market().origin),
      })
      for (const text of head.jsonLd) {
        expect(JSON.parse(text)).toMatchObject({ '@context': 'https://schema.org' })
      }
      expect(await sizeOf(head['og:image'] as string)).toEqual(PREVIEW)
      expect([...without.problems.splice(0), ...running.problems.splice(0)]).toEqual([])
    })
  }

  it('comes from the address of a review to its product', async () => {
    const { reviews } = await (await fetch(`${market().origin}/v1/review?limit=1`)).json()
    const [{ internal_id, merchant_id, product_id }] = reviews
    const { page } = await market().visit()
    await page.goto(`/review/${internal_id}`)
    expect(new URL(page.url()).pathname).toBe(`/product/${merchant_id}/${product_id}`)
  })

  it('is told that there is no page, with the status for it', async () => {
    const { page } = await market().visit({ expected: /^404 / })
    for (const path of ['/nothing/here', '/product/1/0x12', '/reviewer/999999', '/escrow/-1']) {
      const response = await page.goto(path)
      expect([path, response?.status()]).toEqual([path, 404])
      await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor()
    }
  })
}

async function headOf({ page }: Visit): Promise<Record<string, string> & { jsonLd: string[] }> {
  // With JavaScript off the page runs nothing, and Playwright reads it from outside.
  const html = await page.content()
  const metas = [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g)]
  const jsonLd = [...html.matchAll(/<script type="application\/ld\+json">([^<]*)<\/script>/g)]
  return Object.assign(Object.fromEntries(metas.map(([, name, content]) => [name, content])), {
    jsonLd: jsonLd.map(([, text]) => text as string),
  })
}

/** Of a PNG: its header has it. */
async function sizeOf(url: string): Promise<{ width: number; height: number }> {
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
  expect(bytes.subarray(0, 8).toString('hex')).toBe(PNG)
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}
