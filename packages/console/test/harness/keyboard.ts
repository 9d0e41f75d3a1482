// The keyboard alone: what it cannot reach by Tab, a person without a mouse cannot use.
import type { Locator, Page } from 'playwright-core'

const MOST_STOPS = 150

/** Presses Tab until the element has the focus. */
export async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  const isFocused = () => target.evaluate((element) => element === document.activeElement)
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if (await isFocused()) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${target} within ${MOST_STOPS} stops`)
}

export async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await reach(page, target)
  await page.keyboard.press(key)
}

export async function type(page: Page, target: Locator, text: string): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}
