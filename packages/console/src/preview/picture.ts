// The picture that chats and search engines show of a page, as SVG. All text in it is escaped here.
import { linesOf, shownText, widthOf } from './words.ts'

export const WIDTH = 1_200
export const HEIGHT = 630

export interface Picture {
  kicker: string
  title: string
  text?: string
  /** Names and values, at most four. */
  facts: [name: string, value: string][]
  /** A rank from 0 to 1, drawn as a bar; null: not ranked yet. */
  rank?: number | null
}

const EDGE = 80
const FACTS = 4
const LONGEST_TITLE = 90
const LONGEST_TEXT = 200
const LONGEST_FACT = 24
const TITLE_SIZE = 68
const TEXT_SIZE = 32

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string)

const line = (text: string, x: number, y: number, style: string) =>
  `<text x="${x}" y="${y}" ${style}>${escaped(text)}</text>`

export function svgOf({ kicker, title, text = '', facts, rank }: Picture): string {
  const width = WIDTH - 2 * EDGE
  const titles = linesOf(shownText(title, LONGEST_TITLE), width / TITLE_SIZE, 2)
  const texts = linesOf(shownText(text, LONGEST_TEXT), width / TEXT_SIZE, 2)
  const afterTitle = 268 + titles.length * 80
  const column = width / FACTS
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="DejaVu Sans">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#f6f5f1"/>
<rect width="${WIDTH}" height="10" fill="#a0490a"/>
<g transform="translate(${EDGE} 64) scale(1.75)"><rect width="32" height="32" rx="8" fill="#a0490a"/><path d="M9 23V9h8a4.5 4.5 0 0 1 0 9h-4m4 0 6 5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></g>
${line('Referrer', EDGE + 74, 104, 'font-size="34" font-weight="700" fill="#1d1c19"')}
${line(shownText(kicker, 40).toUpperCase(), EDGE, 216, 'font-size="24" letter-spacing="2" fill="#625e55"')}
${titles.map((part, at) => line(part, EDGE, 296 + at * 80, `font-size="${TITLE_SIZE}" font-weight="700" fill="#1d1c19"`)).join('\n')}
${texts.map((part, at) => line(part, EDGE, afterTitle + 18 + at * 44, `font-size="${TEXT_SIZE}" fill="#625e55"`)).join('\n')}
${rank === undefined ? '' : bar(rank)}
${facts
  .slice(0, FACTS)
  .map(([name, value], at) => fact(name, value, EDGE + at * column))
  .join('\n')}
</svg>`
}

const bar = (rank: number | null) =>
  `<rect x="${EDGE}" y="476" width="${WIDTH - 2 * EDGE}" height="10" rx="5" fill="#e4e1d9"/>
<rect x="${EDGE}" y="476" width="${Math.max(0, Math.min(1, rank ?? 0)) * (WIDTH - 2 * EDGE)}" height="10" rx="5" fill="#a0490a"/>`

const FACT_SIZE = 29
const FACT_WIDTH = (WIDTH - 2 * EDGE) / FACTS - 24

function fact(name: string, value: string, x: number): string {
  const shown = shownText(value, LONGEST_FACT)
  const size = Math.min(FACT_SIZE, Math.floor(FACT_WIDTH / widthOf(shown)))
  return `${line(shownText(name, LONGEST_FACT), x, 534, 'font-size="22" fill="#625e55"')}
${line(shown, x, 572, `font-size="${size}" font-weight="700" fill="#1d1c19"`)}`
}
