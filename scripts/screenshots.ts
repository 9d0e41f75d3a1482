// Makes the pictures of the console in docs/pictures/console: the main pages of the demo market, light and dark, desktop and phone.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { findChromium, NO_CHROMIUM } from '../packages/console/test/harness/chromium.ts'
import { press } from '../packages/console/test/harness/keyboard.ts'
import { startConsoleMarket } from '../packages/console/test/harness/market.ts'
import { placesOf } from '../packages/console/test/harness/places.ts'
import { arrive, DESKTOP, PHONE } from '../packages/console/test/harness/visits.ts'

const DIRECTORY = join(import.meta.dirname, '../docs/pictures/console')
const MOST_BYTES = 150_000
const PICTURES: Record<string, string> = {
  home: '/',
  discover: '/discover',
  product: '/product/$merchantId/$productId',
  reviewers: '/reviewers',
  reviewer: '/reviewer/$agentId',
  merchant: '/merchant/$merchantId',
  purchase: '/escrow/$escrowId',
  agents: '/me',
  agent: '/me/agent/$agentId',
  spending: '/me/spending',
  'open-a-shop': '/shop/open',
  shop: '/shop/$merchantId',
  sales: '/shop/$merchantId/sales',
  operator: '/operator',
  proofs: '/operator/proofs',
}

const chromium = findChromium()
if (!chromium) throw new Error(NO_CHROMIUM)
const market = await startConsoleMarket(chromium)
try {
  const places = await placesOf(market.sandbox)
  rmSync(DIRECTORY, { recursive: true, force: true })
  mkdirSync(DIRECTORY, { recursive: true })
  for (const [name, route] of Object.entries(PICTURES)) {
    const place = places.find((one) => one.route === route)
    if (!place) throw new Error(`there is no page ${route}`)
    const { page, close } = await market.visit({ as: place.as })
    await arrive(page, place.path)
    await connect(page)
    for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      await page.setViewportSize(viewport)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.evaluate(() => document.fonts.ready)
        const picture = await capture(page)
        writeFileSync(join(DIRECTORY, `${name}-${colorScheme}-${size}.webp`), picture)
      }
    }
    await close()
    console.log(name)
  }
  for (const problem of await market.leave()) console.error(problem)
} finally {
  await market.end()
}

/** Chooses the wallet of the account that is signed in, where the page asks for it: the list has it first. */
async function connect(page: Page): Promise<void> {
  const wallets = page.locator('.wallets button')
  if ((await wallets.count()) === 0) return
  await press(page, wallets.first())
  await page.waitForFunction(() => !document.querySelector('.wallets, .skeleton'))
  // The focus is not part of the picture.
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    scrollTo(0, 0)
  })
}

/** As WebP, with less detail when it would be too large. */
async function capture(page: Page): Promise<Buffer> {
  const cdp = await page.context().newCDPSession(page)
  for (const quality of [90, 80, 65, 50]) {
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality })
    const picture = Buffer.from(data, 'base64')
    if (picture.length <= MOST_BYTES) return picture
  }
  throw new Error(`${page.url()} does not fit into ${MOST_BYTES} bytes`)
}
