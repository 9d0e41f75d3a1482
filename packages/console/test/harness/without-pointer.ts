// A page for the keyboard alone: what points, or gives the focus without a key, is refused.
import type { Locator, Page } from 'playwright-core'

const REFUSED = new Set(
  'blur check clear click dblclick dispatchEvent dragAndDrop dragTo drop fill focus hover mouse press pressSequentially selectOption selectText setChecked setInputFiles tap touchscreen type uncheck'.split(
    ' ',
  ),
)

export const withoutPointer = (page: Page): Page => guard(page)

const guard = <T extends Page | Locator>(target: T): T =>
  new Proxy(target, {
    get(_, name) {
      if (REFUSED.has(String(name))) throw new Error(`not with the keyboard alone: ${String(name)}`)
      const value = Reflect.get(target, name)
      return typeof value === 'function'
        ? (...given: unknown[]) => guarded(value.apply(target, given))
        : value
    },
  })

function guarded(value: unknown): unknown {
  if (value instanceof Promise) return value.then(guarded)
  if (Array.isArray(value)) return value.map(guarded)
  return isLocator(value) ? guard(value) : value
}

const isLocator = (value: unknown): value is Locator =>
  typeof value === 'object' && value !== null && 'getByRole' in value
