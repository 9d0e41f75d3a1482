// The page can sign for the sandbox's people: only itself, opened on this machine, may ask it to.
import type { IncomingMessage } from 'node:http'

const LOCAL = /^(127\.0\.0\.1|localhost)(:\d{1,5})?$/

/** Why a request is refused, if it is. */
export function refusalOf({ method, headers }: IncomingMessage): string | undefined {
  const { host = '', origin } = headers
  // A name of a stranger that leads to this machine (DNS rebinding) would make his page one of ours.
  if (!LOCAL.test(host)) return `this page is at localhost only, not at "${host}"`
  if (method === 'GET') return undefined
  if (method !== 'POST') return 'only GET and POST are known here'
  if (origin !== undefined && origin !== `http://${host}`) return 'another site may not write here'
  // A browser sends this type to another site only after asking it, which gets no answer here.
  if (!headers['content-type']?.startsWith('application/json')) return 'send JSON as application/json'
  return undefined
}
