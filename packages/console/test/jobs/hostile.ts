// Strangers fill the market: nothing of theirs runs in a page, and nothing breaks its layout.
import type { Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import { reviewsOf } from '../../../../sandbox/test/links.ts'
import { inDatabase } from '../../../../sandbox/test/sandbox.ts'
import { onEveryPage } from '../harness/every-page.ts'
import { fillWithHostility, MARK, TEXT } from '../harness/hostile.ts'
import { press } from '../harness/keyboard.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { type Account, placesOf } from '../harness/places.ts'
import { traces } from '../harness/traces.ts'
import { arrive, PHONE } from '../harness/visits.ts'

/** Last: afterwards the market is not fit for anything else. */
export function hostile(market: () => ConsoleMarket): void {
  let owner: Account
  let merchant: Account
  beforeAll(async () => {
    const { sandbox, origin } = market()
    const places = await placesOf(sandbox)
    const at = (route: string) => places.find((place) => place.route === route)?.as as Account
    owner = at('/me')
    merchant = at('/shop')
    await fillWithHostility(sandbox, { owner, merchant })
    await vi.waitUntil(
      async () =>
        (await (await fetch(`${origin}/v1/product?merchant_id=${merchant.merchantId}`)).text()).includes(
          MARK,
        ),
      { timeout: 60_000 },
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

  it('runs nothing and keeps its layout on the page of a ref link', async () => {
    const { sandbox } = market()
    // A review has a link only while its product has an address of the web.
    const endpoint = `https://evil.example/'"><script>alert(8)</script>`
    await inDatabase(
      sandbox,
      (sql) => sql`UPDATE market.products SET endpoint_url = ${endpoint}
        WHERE merchant_id = ${merchant.merchantId ?? -1}`,
    )
    const find = async () => {
      const reviews = await reviewsOf(sandbox)
      return reviews.find(({ merchant_id, ref_link }) => merchant_id === merchant.merchantId && ref_link)
    }
    await expect.poll(find).toBeDefined()
    const link = (await find())?.ref_link
    const { page } = await market().visit({ isPhone: true })
    const response = await page.goto(new URL(String(link)).pathname)
    expect(response?.status()).toBe(200)
    await page.getByText(MARK).first().waitFor()
    // Its own style, and nothing else.
    expect(await traces(page)).toEqual([expect.stringMatching(/^<style>\s*:root/)])
    expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
  })

  it('runs nothing and keeps its layout where a messenger names a chat', async () => {
    const { page } = await market().visit({ as: owner, isPhone: true })
    const linked = { linked: true, messenger_username: TEXT, linked_at: new Date().toISOString() }
    await page.route('**/v1/messenger/link/*', (route) => route.fulfill({ json: linked }))
    const isHarmless = async (shown: Page) => {
      await shown.getByText(MARK).waitFor()
      expect(await traces(shown)).toEqual([])
      expect(await layoutOf(shown)).toEqual({ wider: [], overlaps: [] })
    }
    // The server renders what it is told itself: only a page that comes later asks in the browser.
    await arrive(page, '/me')
    await press(page, page.getByRole('link', { name: 'Chat', exact: true }))
    await isHarmless(page)
    await arrive(page, '/link?code=of-a-stranger')
    await press(page, page.getByRole('button', { name: 'Link this chat' }))
    await isHarmless(page)
  })
}
