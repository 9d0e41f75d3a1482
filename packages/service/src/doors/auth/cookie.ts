// The session of the web console is a cookie that scripts cannot read. A cookie also comes along with requests that other sites make, so it
// counts only with a header that they cannot send, in a request that the browser says is from our own pages.
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../kit/config.ts'
import { TOKEN } from './sessions.ts'

/** Other origins cannot send it without a preflight, which we refuse. */
export const CONSOLE_HEADER = 'x-referrer-console'

export interface Asked {
  method: string
  headers: IncomingHttpHeaders
}

type Site = Pick<Config, 'publicUrl'>

const isSecure = ({ publicUrl }: Site) => new URL(publicUrl).protocol === 'https:'

/** Browsers accept a `__Host-` cookie from our host only, and not from a subdomain or by plain HTTP. */
export const cookieName = (site: Site): string => (isSecure(site) ? '__Host-referrer' : 'referrer')

const attributesOf = (site: Site) => `Path=/; HttpOnly; SameSite=Strict${isSecure(site) ? '; Secure' : ''}`

export function sessionCookie(site: Site, token: string, seconds: number): string {
  return `${cookieName(site)}=${token}; ${attributesOf(site)}; Max-Age=${seconds}`
}

export const clearedCookie = (site: Site): string => `${cookieName(site)}=; ${attributesOf(site)}; Max-Age=0`

/** Whether one of our own pages made the request. */
export function isFromConsole(site: Site, { method, headers }: Asked): boolean {
  if (headers[CONSOLE_HEADER] !== '1') return false
  const fetchSite = headers['sec-fetch-site']
  if (fetchSite !== undefined) return fetchSite === 'same-origin'
  // Browsers without Sec-Fetch-Site leave the Origin out of reads of the same origin.
  const { origin } = headers
  return origin === undefined
    ? method === 'GET' || method === 'HEAD'
    : origin === new URL(site.publicUrl).origin
}

/** The token in the session cookie. Undefined when there is none, or two of them: one was put there by somebody else. */
export function cookieToken(site: Site, { cookie = '' }: IncomingHttpHeaders): string | undefined {
  const name = `${cookieName(site)}=`
  const values = cookie
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(name))
    .map((part) => part.slice(name.length))
  const [token] = values
  return values.length === 1 && token !== undefined && TOKEN.test(token) ? token : undefined
}
