/** `URL` drops blanks, reads backslashes as slashes and adds missing slashes; other parsers of the same text may not. */
const PLAIN = /^https?:\/\/[^\s\p{Cc}\\/]/iu
const NOT_IN_A_URL = /[\s\p{Cc}\\]/u

/** An http or https URL without credentials that every parser reads the same way; undefined when the text is not one. */
export function parseWebUrl(text: string): URL | undefined {
  if (!PLAIN.test(text) || NOT_IN_A_URL.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username || url.password ? undefined : url
}
