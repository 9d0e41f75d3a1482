// What a person would see at once, measured: a page wider than its window, and texts on top of each other.
import type { Page } from 'playwright-core'

export interface Layout {
  /** Pixels by which the document is wider than the window, with the elements that stick out. */
  wider: string[]
  /** Pairs of texts that overlap. */
  overlaps: string[]
}

export const layoutOf = (page: Page): Promise<Layout> => page.evaluate(measure)

/** Runs in the page. */
function measure(): Layout {
  interface Box {
    text: string
    node: Node
    left: number
    right: number
    top: number
    bottom: number
  }
  const EDGE = 2
  const SHARE = 0.35
  const nameOf = (element: Element) =>
    `${element.tagName.toLowerCase()}.${String(element.getAttribute('class') ?? '').replaceAll(' ', '.')}`

  /** The part of a box that its ancestors do not cut off. */
  function visible(box: DOMRect, element: Element | null): Omit<Box, 'text' | 'node'> {
    let { left, right, top, bottom } = box
    for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
      const { overflowX, overflowY, clipPath } = getComputedStyle(at)
      const outer = at.getBoundingClientRect()
      if (overflowX !== 'visible' || clipPath !== 'none') {
        left = Math.max(left, outer.left)
        right = Math.min(right, outer.right)
      }
      if (overflowY !== 'visible' || clipPath !== 'none') {
        top = Math.max(top, outer.top)
        bottom = Math.min(bottom, outer.bottom)
      }
    }
    return { left, right, top, bottom }
  }

  const boxes: Box[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement
    if (
      !node.textContent?.trim() ||
      !parent?.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    )
      continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) {
      const box = visible(rect, parent)
      if (box.right - box.left > EDGE && box.bottom - box.top > EDGE)
        boxes.push({ ...box, node, text: node.textContent.trim().slice(0, 40) })
    }
  }
  boxes.sort((one, other) => one.top - other.top)
  const overlaps = new Set<string>()
  for (const [index, one] of boxes.entries()) {
    for (let at = index + 1; at < boxes.length; at++) {
      const other = boxes[at] as Box
      if (other.top >= one.bottom) break
      if (other.node === one.node) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - other.top
      // Lines that follow each other closely touch; texts on top of each other share much of their height.
      const lower = Math.min(one.bottom - one.top, other.bottom - other.top)
      if (width > EDGE && height > lower * SHARE) overlaps.add(`"${one.text}" and "${other.text}"`)
    }
  }
  const room = document.documentElement.clientWidth
  const isWider = document.documentElement.scrollWidth > room
  const wider = isWider
    ? [...document.querySelectorAll('body *')]
        .filter((element) => {
          const { right, left } = visible(element.getBoundingClientRect(), element.parentElement)
          return right > room + 1 && right > left
        })
        .slice(0, 5)
        .map((element) => `${nameOf(element)} ends at ${Math.round(element.getBoundingClientRect().right)}`)
    : []
  return {
    wider: isWider ? [`${document.documentElement.scrollWidth} px of ${room}`, ...wider] : [],
    overlaps: [...overlaps],
  }
}
