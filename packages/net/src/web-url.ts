/** `URL` drops blanks, takes backslashes for slashes and adds missing slashes; others who read the same text may not. */
const PLAIN = /^https?:\/\/[^\s\p{Cc}\\/]/iu
const NOT_IN_A_URL = /[\s\p{Cc}\\]/u

/** An http or https address without credentials, as every reader understands it; undefined when the text is none. */
export function parseWebUrl(text: string): URL | undefined {
  if (!PLAIN.test(text) || NOT_IN_A_URL.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username || url.password ? undefined : url
}
