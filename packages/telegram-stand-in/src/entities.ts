import { badRequest } from './api-error.ts'
import { type Formatted, parseHtml } from './html.ts'
import { isRecord, list, type Params, text as textOf } from './params.ts'
import type { Entity } from './types.ts'

export const MOST_CHARACTERS = 4_096

const DETECTED: [type: string, pattern: RegExp][] = [
  ['url', /\bhttps?:\/\/[^\s<>"']*[^\s<>"'.,:;!?)\]]/gi],
  ['bot_command', /(?<![\w/:.<>])\/[a-z0-9_]{1,64}(?:@\w{3,32})?(?![\w/])/gi],
  ['mention', /(?<![\w/])@\w{4,32}\b/g],
]

/** What Telegram finds in a text by itself. */
export function detectEntities(text: string, known: Entity[] = []): Entity[] {
  const entities = [...known]
  for (const [type, pattern] of DETECTED) {
    for (const { index: offset, 0: found } of text.matchAll(pattern)) {
      const isFree = entities.every(
        (entity) =>
          offset >= entity.offset + entity.length ||
          offset + found.length <= entity.offset ||
          isStyle(entity),
      )
      if (isFree) entities.push({ type, offset, length: found.length })
    }
  }
  return entities.sort((a, b) => a.offset - b.offset || b.length - a.length)
}

/** Links are found within bold text, not within code or another link. */
const isStyle = ({ type }: Entity) =>
  ['bold', 'italic', 'underline', 'strikethrough', 'spoiler', 'blockquote'].includes(type)

/** The text of a message that a bot sends, as its readers see it. */
export function readText(params: Params): Formatted {
  const source = textOf(params, 'text')
  if (source === '') throw badRequest('message text is empty')
  const { text, entities } = trimmed(formatted(source, params))
  if (text === '') throw badRequest('message text is empty')
  if ([...text].length > MOST_CHARACTERS) throw badRequest('message is too long')
  return { text, entities: detectEntities(text, entities) }
}

function formatted(text: string, params: Params): Formatted {
  const mode = textOf(params, 'parse_mode').toLowerCase()
  if (mode === 'html') return parseHtml(text)
  // The real one knows Markdown, too; nobody here writes it.
  if (mode !== '') throw badRequest('unsupported parse_mode')
  return { text, entities: (list(params, 'entities') ?? []).map((entity) => readEntity(entity, text)) }
}

function readEntity(value: unknown, text: string): Entity {
  if (!isRecord(value) || typeof value.type !== 'string') throw badRequest("can't parse MessageEntity")
  const { type, offset, length, url } = value
  if (!isIndex(offset) || !isIndex(length) || offset + length > text.length)
    throw badRequest("can't parse MessageEntity: it is outside of the text")
  return { type, offset, length, ...(typeof url === 'string' && { url }) }
}

const isIndex = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0

/** Telegram cuts white space at both ends. */
function trimmed({ text, entities }: Formatted): Formatted {
  const start = text.length - text.trimStart().length
  const kept = text.trim()
  const moved = entities.map((entity) => {
    const from = Math.max(entity.offset - start, 0)
    const to = Math.min(entity.offset + entity.length - start, kept.length)
    return { ...entity, offset: from, length: to - from }
  })
  return { text: kept, entities: moved.filter(({ length }) => length > 0) }
}
