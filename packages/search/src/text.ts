import { stemmer } from 'stemmer'

const WORD = /[\p{L}\p{N}]+/gu
const OF_WORDS = /^[\p{L}\p{N}]/u
const MARK = /\p{M}+/gu
const BEYOND_ASCII = /[^\0-\x7f]/
const LATIN = /^[a-z]+$/
const STEMS_KEPT = 20_000
const stems = new Map<string, string>()

/** Normalises a text for comparison: case, accents and compatibility forms are folded. */
export function fold(text: string): string {
  const plain = BEYOND_ASCII.test(text) ? text.normalize('NFKD').replace(MARK, '') : text
  return plain.toLowerCase()
}

export function wordsOf(text: string): string[] {
  return fold(text).match(WORD) ?? []
}

const [UNKNOWN, INSIDE, OUTSIDE] = [0, 1, 2] as const
/** Of each code point up to U+FFFF whether it belongs to a word, as far as it has been looked at. */
const kinds = new Uint8Array(2 ** 16)
for (let code = 0; code < 0x80; code += 1)
  kinds[code] = OF_WORDS.test(String.fromCharCode(code)) ? INSIDE : OUTSIDE

/** Of each ASCII byte: what it is in a folded word; 0: it is in none. */
export const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 && kinds[byte] === INSIDE ? String.fromCharCode(byte).toLowerCase().charCodeAt(0) : 0,
)

/** The length of a character beyond ASCII that belongs to a word, in a text in UTF-8; 0 for others, and inside of a character. */
export function bytesInWord(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0xc0) return 0
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  let code = first & (0x7f >> length)
  for (let i = 1; i < length; i += 1) code = (code << 6) | ((bytes[at + i] as number) & 0x3f)
  return isInWord(code) ? length : 0
}

function isInWord(code: number): boolean {
  const kind = kinds[code] ?? UNKNOWN
  if (kind !== UNKNOWN) return kind === INSIDE
  const isInside = OF_WORDS.test(String.fromCodePoint(code))
  // Beyond U+FFFF there is no place for it.
  kinds[code] = isInside ? INSIDE : OUTSIDE
  return isInside
}

/** The Porter stem; words with other characters than a to z are unchanged. */
export const newStemOf = (word: string): string => (LATIN.test(word) ? stemmer(word) : word)

/** The same, from a cache if it was asked for lately. */
export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = newStemOf(word)
  // Clearing the whole cache bounds the memory and costs little: stems are computed again on demand.
  if (stems.size >= STEMS_KEPT) stems.clear()
  stems.set(kept(word), kept(stem))
  return stem
}

/** V8 represents a substring of at least this length as a pointer into the whole text. */
const POINTS_INTO = 13

/** Copies a word that is stored: a substring would keep the whole text in memory. */
export const kept = (word: string): string =>
  word.length < POINTS_INTO ? word : Buffer.from(word, 'utf16le').toString('utf16le')
