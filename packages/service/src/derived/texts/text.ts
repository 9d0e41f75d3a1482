import type { Queryable } from '@referrer/database'

/** The first `most` characters of a text; no surrogate pair is split. */
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

/**
 * Splits texts, in order, into batches of at most `most` texts and a total size of `room`; a single larger text is a
 * batch of its own.
 */
export function inBatches(
  texts: readonly string[],
  { most, room, sizeOf }: { most: number; room: number; sizeOf: (text: string) => number },
): string[][] {
  const batches: string[][] = []
  let used = 0
  for (const text of texts) {
    const size = sizeOf(text)
    const batch = batches.at(-1)
    if (batch && batch.length < most && used + size <= room) {
      batch.push(text)
      used += size
    } else {
      batches.push([text])
      used = size
    }
  }
  return batches
}

/**
 * SQL: the text of a product `p` that is embedded. Only the beginning of the description is used: it says what the
 * product is, and the rest costs time without improving the search.
 */
export const productText = (sql: Queryable) =>
  sql`concat_ws(E'\\n', nullif(p.name, ''), nullif(p.category, ''), nullif(left(p.description, 200), ''))`

/** SQL: the hash of that text. */
export const productTextHash = (sql: Queryable) => sql`sha256(convert_to(${productText(sql)}, 'UTF8'))`
