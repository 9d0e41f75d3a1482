// Finding a product and reading about it.
import type { Page, Route } from 'playwright-core'
import { expect, it } from 'vitest'
import { hasFocus, press, reach, select, type } from '../harness/keyboard.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { arrive } from '../harness/visits.ts'

const WISH = 'when does the sun set'
const SEARCH = { name: 'What do you need?' }

export function finding(market: () => ConsoleMarket): void {
  const found = (page: Page) =>
    page.getByRole('status').filter({ hasText: 'products, the best first' }).waitFor()
  const daylight = (page: Page) => page.getByRole('link', { name: 'Daylight', exact: true }).first()

  it('finds products while it types, and by the form without JavaScript', async () => {
    const { page } = await market().visit()
    await arrive(page, '/discover')
    await reach(page, page.getByRole('searchbox', SEARCH))
    await page.keyboard.type(WISH)
    await found(page)
    await daylight(page).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(WISH)

    const { page: bare } = await market().visit({ withoutScripts: true })
    await bare.goto('/discover')
    await type(bare, bare.getByRole('searchbox', SEARCH), WISH)
    await press(bare, bare.getByRole('button', { name: 'Search' }))
    await press(bare, daylight(bare))
    await bare.getByRole('heading', { level: 1, name: 'Daylight' }).waitFor()
  })

  it('finds what was typed before the scripts came, on the search page and on the first', async () => {
    for (const path of ['/discover', '/']) {
      const { page } = await market().visit()
      const held: Route[] = []
      let isHeld = true
      await page.route('**/assets/*.js', (route) => {
        if (isHeld) held.push(route)
        else return route.continue()
      })
      // Until the scripts are there, the page has not loaded.
      await page.goto(path, { waitUntil: 'commit' })
      await reach(page, page.getByRole('searchbox', SEARCH))
      await page.keyboard.type(WISH)
      await expect.poll(() => held.length).toBeGreaterThan(0)
      isHeld = false
      await Promise.all(held.map((route) => route.continue()))
      if (path === '/') await page.keyboard.press('Enter')
      await found(page)
      await daylight(page).waitFor()
      expect(await page.getByRole('searchbox', SEARCH).inputValue()).toBe(WISH)
    }
  })

  it('asks again when a busy market has found nothing, and waits when it has asked too often', async () => {
    const { page } = await market().visit({ expected: /^429 \/v1\/discover$/ })
    await arrive(page, '/discover')
    let asked = 0
    const told = Promise.withResolvers<void>()
    await page.route('**/v1/discover?*', async (route) => {
      asked++
      if (asked === 1) {
        const body = JSON.stringify({ error: 'too many requests' })
        return route.fulfill({
          status: 429,
          headers: { 'retry-after': '1' },
          contentType: 'application/json',
          body,
        })
      }
      const response = await route.fetch()
      const answer = await response.json()
      // What the market answers when it has no time for the words, and when it has.
      for (const product of answer.products) product.sub_scores.intent_match = asked === 2 ? 0 : 1
      if (asked === 3) await told.promise
      await route.fulfill({ response, json: answer })
    })
    await type(page, page.getByRole('searchbox', SEARCH), WISH)
    await page.getByText('Nothing fits these words.').waitFor()
    told.resolve()
    await found(page)
    expect(asked).toBe(3)
  })

  it('narrows the search, says what is wrong with a price, and goes back', async () => {
    const { page } = await market().visit()
    await arrive(page, `/discover?q=${encodeURIComponent(WISH)}`)
    await select(page, page.getByRole('combobox', { name: 'Category' }), 'api')
    await page.waitForURL('**category=api*')
    const most = page.getByRole('textbox', { name: 'Highest price, USDC' })
    await type(page, most, 'cheap')
    await page.getByText('Write it as 0.05.').waitFor()
    await type(page, most, '4')
    await page.waitForURL('**most=4*')
    await press(page, page.getByRole('checkbox', { name: 'Lower-ranked reviews, too' }), 'Space')
    await page.waitForURL('**all=*')
    await found(page)
    await press(page, daylight(page))
    await page.getByRole('heading', { level: 1, name: 'Daylight' }).waitFor()
    await page.goBack()
    await found(page)
    expect(await page.getByRole('combobox', { name: 'Category' }).inputValue()).toBe('api')
    expect(await most.inputValue()).toBe('4')
  })

  it('reads a product: other orders, the figures, and each way to buy', async () => {
    const product = market().sandbox.state.products.find(({ endpointUrl }) =>
      endpointUrl.endsWith('/daylight'),
    )
    const { page } = await market().visit()
    await arrive(page, `/product/${product?.merchantId}/${product?.productId}`)
    await press(page, page.getByRole('link', { name: 'Figures', exact: true }))
    await page.getByRole('table').first().waitFor()
    await press(page, page.getByRole('navigation', { name: 'Order' }).getByRole('link').nth(1))
    await page.waitForURL('**sort=*')
    await press(page, page.getByRole('link', { name: 'Any x402 client' }))
    await page.getByText('buy.mjs', { exact: true }).waitFor()
    const through = page.getByRole('combobox', { name: 'Buy through the review of' })
    await reach(page, through)
    await page.keyboard.press('ArrowDown')
    await page.waitForURL('**through=*')
    await press(page, page.locator('summary', { hasText: 'Figures as a table' }).first())
    await page.getByRole('table', { name: 'Product rank by day' }).waitFor()
  })

  it('skips to the content, and changes the theme for good', async () => {
    const { page } = await market().visit()
    await arrive(page, '/')
    const skip = page.getByRole('link', { name: 'Skip to content' })
    await page.keyboard.press('Tab')
    await hasFocus(skip)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await hasFocus(page.getByRole('searchbox', SEARCH))

    await press(page, page.getByRole('button', { name: 'Use the dark theme' }), 'Space')
    await page.getByRole('button', { name: 'Use the light theme' }).waitFor()
    await arrive(page, '/reviewers')
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(await paper()).toBe('rgb(22, 21, 19)')
    await press(page, page.getByRole('button', { name: 'Use the light theme' }))
    expect(await paper()).toBe('rgb(246, 245, 241)')
  })
}
