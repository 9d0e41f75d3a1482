// Validation of the text of a review.
import { refused } from '../../kit/market-error.ts'

export const MOST_BYTES = 16_384
/** Nesting limit, because some JSON parsers fail at depths that fit into `MOST_BYTES`. */
const MOST_LEVELS = 32

export type Content = { rating: number; description: string; [key: string]: unknown }

/** Limits of `searched_for`, in characters without spaces around them. */
const SHORTEST_SEARCH = 3
const LONGEST_SEARCH = 200

const invalid = (what: string) => refused('invalid input', what)

/** Checks that a text has one encoding in bytes, before it is hashed. */
export function checkText(text: string): void {
  if (Buffer.byteLength(text) > MOST_BYTES) throw invalid(`content_json is larger than ${MOST_BYTES} bytes`)
  if (!text.isWellFormed()) throw invalid('content_json is not well-formed Unicode')
}

/** Parses and validates the content. A valid text can be embedded in other JSON unchanged. */
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
  const { rating, description, searched_for: searchedFor } = content as Record<string, unknown>
  if (!Number.isInteger(rating) || Number(rating) < 1 || Number(rating) > 5)
    throw invalid('rating must be a whole number from 1 to 5')
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('description must be a text that is not blank')
  if (/[<>]/.test(description)) throw invalid('description must not contain angle brackets')
  if (Object.hasOwn(content, 'searched_for') && !isSearch(searchedFor))
    throw invalid(
      `searched_for must be a text of ${SHORTEST_SEARCH} to ${LONGEST_SEARCH} characters, or be left out`,
    )
  return content as Content
}

function isSearch(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const { length } = [...value.trim()]
  return length >= SHORTEST_SEARCH && length <= LONGEST_SEARCH
}

/** The description in a stored text; empty when the text cannot be parsed. */
export function descriptionIn(text: string): string {
  const description = valueIn(text, 'description')
  return typeof description === 'string' ? description : ''
}

/** What the buyer searched for, in a stored text; empty when it does not say it as `parseContent` accepts it. */
export function searchedForIn(text: string): string {
  const searchedFor = valueIn(text, 'searched_for')
  return isSearch(searchedFor) ? searchedFor : ''
}

function valueIn(text: string, key: string): unknown {
  try {
    return Object(JSON.parse(text))[key]
  } catch {
    return undefined
  }
}

export const satisfactionOf = ({ rating }: Content) => (rating - 1) / 4

/** Counts the keys of a value at all levels. Refuses values that JSON parsers read differently. */
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

/** Counts the keys in the text, to find duplicate keys: some parsers keep the last of them, others the first. */
function keysWritten(json: string): number {
  let keys = 0
  for (const [, colon] of json.matchAll(STRING)) if (colon) keys += 1
  return keys
}
