import type { Queryable } from '@referrer/database'

/** The first characters of a text; none is cut in two. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  let end = 0
  for (const character of text) {
    if (most === 0) break
    most -= 1
    end += character.length
  }
  return text.slice(0, end)
}

/** Texts in their order, in parts of at most so many, and no larger than there is room unless one alone is. */
export function inParts(
  texts: readonly string[],
  { most, room, sizeOf }: { most: number; room: number; sizeOf: (text: string) => number },
): string[][] {
  const parts: string[][] = []
  let used = 0
  for (const text of texts) {
    const size = sizeOf(text)
    const part = parts.at(-1)
    if (part && part.length < most && used + size <= room) {
      part.push(text)
      used += size
    } else {
      parts.push([text])
      used = size
    }
  }
  return parts
}

/**
 * As SQL: what is embedded of a product `p`. The beginning of a description says what the thing is; what follows costs time and helps
 * nobody to find it.
 */
export const productText = (sql: Queryable) =>
  sql`concat_ws(E'\\n', nullif(p.name, ''), nullif(p.category, ''), nullif(left(p.description, 200), ''))`

/** As SQL: the hash of that text. */
export const productTextHash = (sql: Queryable) => sql`sha256(convert_to(${productText(sql)}, 'UTF8'))`
