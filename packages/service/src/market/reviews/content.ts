// What the text of a review must be.
import { refused } from '../../kit/market-error.ts'

export const MOST_BYTES = 16_384
/** Readers of JSON give up on less than what fits into the text. */
const MOST_LEVELS = 32

export type Content = { rating: number; description: string; [key: string]: unknown }

const invalid = (what: string) => refused('invalid input', what)

/** Before it is hashed: every reader of such a text reads the same bytes. */
export function checkText(text: string): void {
  if (Buffer.byteLength(text) > MOST_BYTES) throw invalid(`content_json is larger than ${MOST_BYTES} bytes`)
  if (!text.isWellFormed()) throw invalid('content_json is not well-formed Unicode')
}

/** The content that a text holds; it is then safe to be embedded in JSON as it is. */
export function parseContent(text: string): Content {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw invalid('content_json is not JSON')
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw invalid('content_json is not a JSON object')
  if (keysIn(content, 0) !== keysWritten(text)) throw invalid('content_json names a key twice')
  const { rating, description } = content as Record<string, unknown>
  if (!Number.isInteger(rating) || Number(rating) < 1 || Number(rating) > 5)
    throw invalid('rating must be a whole number from 1 to 5')
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('description must be a text that is not blank')
  if (/[<>]/.test(description)) throw invalid('description must not contain angle brackets')
  return content as Content
}

/** What a stored text says in words; one that cannot be read says nothing. */
export function descriptionIn(text: string): string {
  try {
    const { description } = Object(JSON.parse(text))
    return typeof description === 'string' ? description : ''
  } catch {
    return ''
  }
}

export const satisfactionOf = ({ rating }: Content) => (rating - 1) / 4

/** How many keys a value has, at all levels. Refuses what readers of JSON disagree about. */
function keysIn(value: unknown, level: number): number {
  if (level > MOST_LEVELS) throw invalid(`content_json is nested deeper than ${MOST_LEVELS} levels`)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalid('content_json holds a number that is too large')
  if (typeof value === 'string') checkString(value)
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + keysIn(item, level + 1), 0)
  return Object.entries(value).reduce((sum, [key, item]) => {
    checkString(key)
    return sum + 1 + keysIn(item, level + 1)
  }, 0)
}

function checkString(text: string): void {
  if (!text.isWellFormed() || text.includes('\0'))
    throw invalid('content_json holds a text that is not well-formed Unicode, or the character zero')
}

const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/** A parser keeps the last of two equal keys; other readers keep the first. */
function keysWritten(json: string): number {
  let keys = 0
  for (const [, colon] of json.matchAll(STRING)) if (colon) keys += 1
  return keys
}
