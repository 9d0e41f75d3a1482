import { useEffect } from 'react'

/** In the page, shown, and not disabled. */
const isUsable = (element: Element) =>
  element.isConnected && element.checkVisibility() && !element.matches(':disabled')

/**
 * When what has the focus goes away, such as a button that has done its work, what stood around it gets the focus: whoever uses a keyboard
 * or a screen reader goes on from there, and not from the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    /** What had the focus last, then what it stands in, from inside to outside. */
    let way: Element[] = []
    const remember = ({ target }: FocusEvent) => {
      way = []
      for (let at = target as Element | null; at && at !== document.body; at = at.parentElement) way.push(at)
    }
    // A click beside everything takes the focus away on purpose.
    const forget = () => {
      way = []
    }
    const give = () => {
      const [last] = way
      if (!last || isUsable(last)) return
      const { activeElement } = document
      // Browsers take the focus from what is hidden a little later.
      if (activeElement && activeElement !== document.body && activeElement !== last) return
      const main = document.getElementById('main')
      const near = way.find((element) => isUsable(element) && main?.contains(element)) ?? main
      if (!(near instanceof HTMLElement)) return
      if (!near.hasAttribute('tabindex')) {
        near.tabIndex = -1
        near.addEventListener('blur', () => near.removeAttribute('tabindex'), { once: true })
      }
      near.focus({ preventScroll: true })
    }
    const observer = new MutationObserver((changes) => {
      const hasLess = changes.some(
        ({ type, removedNodes }) => type === 'attributes' || removedNodes.length > 0,
      )
      // Afterwards: dialogs and pages that know a better place give it the focus first.
      if (hasLess) setTimeout(give)
    })
    observer.observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['hidden', 'disabled'],
    })
    document.addEventListener('focusin', remember)
    document.addEventListener('pointerdown', forget, { capture: true })
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', remember)
      document.removeEventListener('pointerdown', forget, { capture: true })
    }
  }, [])
}
