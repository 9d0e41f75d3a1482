// The keyboard alone: what it cannot reach by Tab, a person without a mouse cannot use. On the way it looks at every stop.
import { setTimeout } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const MOST_STEPS = 30
/** A list may change meanwhile; whoever comes to the same stops again and again goes round in a circle. */
const MOST_AGAIN = 3
const LOOKS = 40
const PAUSE_MS = 50
const TRIES = 5
const FORGETS_MS = 1_500

interface Stop {
  isThere: boolean
  /** The target stands before what has the focus. */
  isBefore: boolean
  /** What had the focus is gone, and nothing has it now. */
  isLost: boolean
  /** What has the focus, where nobody can see that. */
  unseen: string | undefined
  /** It had the focus before, on the same way. */
  isAgain: boolean
}

/** Runs in the page. */
function look(target: Element, isFirst: boolean): Stop {
  const memory = globalThis as { stops?: Set<Element> }
  const focused = document.activeElement
  if (!focused || focused === document.body) {
    const isLost = memory.stops !== undefined
    return { isThere: false, isBefore: false, isLost, unseen: undefined, isAgain: !isFirst }
  }
  const stops = isFirst || !memory.stops ? new Set<Element>() : memory.stops
  memory.stops = stops
  const isAgain = stops.has(focused)
  stops.add(focused)
  const { outlineStyle, outlineWidth } = getComputedStyle(focused)
  const { top, bottom, width, height } = focused.getBoundingClientRect()
  const isSeen =
    outlineStyle !== 'none' &&
    Number.parseFloat(outlineWidth) >= 1 &&
    width * height > 0 &&
    bottom > 0 &&
    top < innerHeight
  return {
    isThere: focused === target,
    isBefore: Boolean(target.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING),
    isLost: false,
    unseen: isSeen ? undefined : focused.outerHTML.slice(0, 200),
    isAgain,
  }
}

/** What went away may have had the focus: then something else has it now. */
async function firstLook(target: Locator): Promise<Stop> {
  for (let looks = 1; ; looks++) {
    const stop = await target.evaluate(look, true)
    if (!stop.isLost) return stop
    if (looks === LOOKS) throw new Error(`the focus is lost, before ${target}`)
    await setTimeout(PAUSE_MS)
  }
}

/** Presses Tab until the element has the focus, backwards where the element stands before. */
export async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  let stop = await firstLook(target)
  for (let again = 0; !stop.isThere; again += Number(stop.isAgain)) {
    if (again > MOST_AGAIN) throw new Error(`the keyboard does not reach ${target}`)
    await page.keyboard.press(stop.isBefore ? 'Shift+Tab' : 'Tab')
    stop = await target.evaluate(look, false)
    if (stop.unseen) await comesIntoView(target)
  }
}

/** The page scrolls to what has the focus in a later frame, if it has to. */
async function comesIntoView(target: Locator): Promise<void> {
  for (let looks = 1; ; looks++) {
    const { unseen } = await target.evaluate(look, false)
    if (!unseen) return
    if (looks === LOOKS) throw new Error(`nobody sees that this has the focus: ${unseen}`)
    await setTimeout(PAUSE_MS)
  }
}

/** Dialogs and forms give the focus back a moment after they went away or were refused. */
export const hasFocus = (target: Locator): Promise<void> =>
  expect.poll(() => target.evaluate((element) => element === document.activeElement)).toBe(true)

export async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await reach(page, target)
  await page.keyboard.press(key)
}

/** Instead of what the field has. */
export async function type(page: Page, target: Locator, text: string): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('ControlOrMeta+a')
  if (text) await page.keyboard.insertText(text)
  else await page.keyboard.press('Delete')
}

/** Within menus, tabs and radio buttons, which Tab enters and leaves: presses an arrow until the element has the focus. */
export async function step(page: Page, target: Locator, key = 'ArrowDown'): Promise<void> {
  await target.waitFor()
  for (let steps = 0; steps <= MOST_STEPS; steps++) {
    const { isThere, unseen } = await target.evaluate(look, true)
    if (isThere && unseen) await comesIntoView(target)
    if (isThere) return
    await page.keyboard.press(key)
  }
  throw new Error(`${key} does not come to ${target}`)
}

/** One of the radio buttons: Tab comes to the one that is chosen, or to the first. */
export async function choose(page: Page, group: Locator, name: string): Promise<void> {
  const all = group.getByRole('radio')
  const chosen = group.getByRole('radio', { checked: true })
  await reach(page, (await chosen.count()) > 0 ? chosen : all.first())
  await page.keyboard.press('Space')
  await step(page, group.getByRole('radio', { name }))
}

/** The option that begins with this text, as a closed list finds it. */
export async function select(page: Page, list: Locator, text: string): Promise<void> {
  await reach(page, list)
  let chosen: string | undefined
  for (let tries = 1; tries <= TRIES; tries++) {
    await page.keyboard.type(text)
    chosen = await list.evaluate((element) => (element as HTMLSelectElement).selectedOptions[0]?.text)
    if (chosen?.startsWith(text)) return
    // A list forgets what was typed a second ago, also between two keys of a busy machine.
    await setTimeout(FORGETS_MS)
  }
  throw new Error(`typing "${text}" chose "${chosen}"`)
}
