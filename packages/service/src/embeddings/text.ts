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

/** As SQL: what is embedded of a product `p`. */
export const productText = (sql: Queryable) =>
  sql`left(concat_ws(E'\\n', nullif(p.name, ''), nullif(p.category, ''), nullif(p.description, '')), 2000)`

/** As SQL: the hash of that text. */
export const productTextHash = (sql: Queryable) => sql`sha256(convert_to(${productText(sql)}, 'UTF8'))`
