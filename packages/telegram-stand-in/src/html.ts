// Texts with parse_mode HTML. As strict as Telegram, so that a text which a bot forgot to escape fails here and not in production.
import { badRequest } from './api-error.ts'
import type { Entity } from './types.ts'

export interface Formatted {
  text: string
  entities: Entity[]
}

const TYPES: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  code: 'code',
  pre: 'pre',
  a: 'text_link',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  blockquote: 'blockquote',
}

const START = /<[^\s>]*((?:\s+[^\s=>"'/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[\w.-]+))?)*)\s*>/y
const END = /<\/([^\s>]*)\s*>/y
const ATTRIBUTE = /([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+)))?/g
const CHARACTER = /&(?:(lt|gt|amp|quot)|#(?:x([0-9a-f]+)|([0-9]+)));?/iy
const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' }

interface Open {
  tag: string
  at: number
  offset: number
  attributes: Map<string, string>
}

export function parseHtml(html: string): Formatted {
  const entities: Entity[] = []
  const open: Open[] = []
  let text = ''
  let at = 0
  const fail = (why: string) => badRequest(`can't parse entities: ${why}`)
  const byte = () => `at byte offset ${Buffer.byteLength(html.slice(0, at))}`
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(html)
  }

  while (at < html.length) {
    const character = html[at] === '&' ? match(CHARACTER) : null
    if (character) {
      text += decode(character)
      at += character[0].length
    } else if (html[at] !== '<') {
      text += html[at++]
    } else if (html[at + 1] === '/') {
      const last = open.pop()
      if (!last) throw fail(`Unexpected end tag ${byte()}`)
      const end = match(END)
      if (!end) throw fail(`Unclosed end tag ${byte()}`)
      const tag = (end[1] ?? '').toLowerCase()
      if (tag !== '' && tag !== last.tag)
        throw fail(`Unmatched end tag ${byte()}, expected "</${last.tag}>", found "</${tag}>"`)
      const entity = entityOf(last, text)
      const inner = entities.at(-1)
      // A code that fills a pre tells its language and is nothing else.
      if (
        last.tag === 'pre' &&
        inner?.type === 'code' &&
        inner.offset === entity.offset &&
        inner.length === entity.length
      )
        entities.splice(-1, 1, { ...inner, type: 'pre' })
      else if (entity.length > 0 && isComplete(entity)) entities.push(entity)
      at += end[0].length
    } else {
      const tag = /^<([^\s>]*)/.exec(html.slice(at))?.[1]?.toLowerCase() ?? ''
      if (!html.includes('>', at)) throw fail(`Unclosed start tag ${byte()}`)
      if (!Object.hasOwn(TYPES, tag)) throw fail(`Unsupported start tag "${tag}" ${byte()}`)
      const start = match(START)
      if (!start) throw fail(`Unclosed start tag ${byte()}`)
      const attributes = attributesOf(start[1] ?? '')
      if (tag === 'span' && attributes.get('class') !== 'tg-spoiler')
        throw fail(`Tag "span" must have class "tg-spoiler" ${byte()}`)
      open.push({ tag, at, offset: text.length, attributes })
      at += start[0].length
    }
  }
  const unclosed = open.at(-1)
  if (unclosed) throw fail(`Can't find end tag corresponding to start tag "${unclosed.tag}"`)
  return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) }
}

function attributesOf(source: string): Map<string, string> {
  const pairs = [...source.matchAll(ATTRIBUTE)].map(([, name = '', double, single, bare]) => {
    const value = double ?? single ?? bare ?? ''
    return [
      name.toLowerCase(),
      value.replaceAll(new RegExp(CHARACTER, 'gi'), (...found) => decode(found)),
    ] as const
  })
  return new Map(pairs)
}

function decode([source, name, hex, decimal]: (string | undefined)[]): string {
  if (name) return NAMED[name.toLowerCase()] as string
  const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : (source as string)
}

function entityOf({ tag, offset, attributes }: Open, text: string): Entity {
  const entity: Entity = { type: TYPES[tag] as string, offset, length: text.length - offset }
  const href = attributes.get('href')
  const language = attributes.get('class')?.match(/^language-(.+)$/)?.[1]
  // A link without an address is one to its own text.
  if (tag === 'a') entity.url = href || text.slice(offset)
  if (tag === 'code' && language) entity.language = language
  return entity
}

/** Telegram leaves out a link whose address it cannot read and keeps the text. */
const isComplete = ({ type, url = '' }: Entity) => type !== 'text_link' || isAddress(url)

/** Whether Telegram takes it as the address of a link or a button: it wants a host with a dot, so no `localhost`. */
export function isAddress(address: string): boolean {
  const url = URL.parse(/^[a-z]+:/i.test(address) ? address : `http://${address}`)
  if (!url) return false
  if (url.protocol === 'tg:') return true
  return /^https?:$/.test(url.protocol) && url.hostname.includes('.')
}
