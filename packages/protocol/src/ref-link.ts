import { MAX_ENDPOINT_CHARS, MAX_TOKEN_CHARS } from './attribution-token.ts'
import { ProtocolError } from './error.ts'

export type RefLink = { baseUrl: string; token: string }

const TOKEN = /^[A-Za-z0-9_-]+$/
const TOKEN_PATH = /^(.*)\/r\/([A-Za-z0-9_-]+)$/

/**
 * `{baseUrl}/r/{token}`
 *
 * @example
 * ```ts
 * import { RefLink } from '@referrer/protocol'
 *
 * RefLink.serialize({ baseUrl: 'https://market.example', token: 'abc' }) // → 'https://market.example/r/abc'
 * ```
 */
export function serialize({ baseUrl, token }: RefLink): string {
  const url = parseUrl(baseUrl)
  if (!TOKEN.test(token) || token.length > MAX_TOKEN_CHARS) refuse('hold an attribution token')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/r/${token}`
}

/**
 * Splits a link. The token is still unverified.
 *
 * @example
 * ```ts
 * import { RefLink } from '@referrer/protocol'
 *
 * const link: RefLink.RefLink = RefLink.parse('https://market.example/r/abc')
 * link // → { baseUrl: 'https://market.example', token: 'abc' }
 * ```
 */
export function parse(link: unknown): RefLink {
  if (typeof link !== 'string') return refuse('be text')
  if (link.length > MAX_ENDPOINT_CHARS + MAX_TOKEN_CHARS) {
    throw new ProtocolError('too_large', 'the ref link is too long; copy it again')
  }
  const url = parseUrl(link)
  const [, path, token] = TOKEN_PATH.exec(url.pathname) ?? []
  if (path === undefined || token === undefined || token.length > MAX_TOKEN_CHARS) refuse('end in /r/<token>')
  return { baseUrl: `${url.origin}${path}`, token }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) refuse('be an http(s) URL')
  if (url.username || url.password || url.search || url.hash)
    refuse('carry no credentials, query or fragment')
  return url
}

function refuse(what: string): never {
  throw new ProtocolError('invalid_ref_link', `a ref link must ${what}; copy the link of the review again`)
}
