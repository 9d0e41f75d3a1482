// Who may call the doors for programs, which know no credentials: nobody's web pages but ours.
import type { IncomingHttpHeaders } from 'node:http'
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import type { Context } from '../../kit/context.ts'

/** Checks the Host and Origin headers; returns undefined for an allowed caller, else the reason of the refusal. */
export type CallerCheck = (headers: IncomingHttpHeaders) => string | undefined

export function createCallerCheck(context: Context): CallerCheck {
  const names = namesOf(context)
  // The last valid Host header is cached, because nearly all callers send the same one and parsing it is expensive.
  let known: string | undefined
  return ({ host, origin }) => {
    if (host !== known || host === undefined) {
      const checked = validateHostHeader(host, names.hosts)
      if (!checked.ok) return checked.message
      known = host
    }
    if (origin === undefined) return undefined
    const checked = validateOriginHeader(origin, names.origins)
    return checked.ok ? undefined : checked.message
  }
}

/**
 * The allowed host names, against DNS rebinding: a web page could point its own host name to our address and call us from the browser.
 * Programs send no Origin header.
 */
function namesOf({ config }: Context): { hosts: string[]; origins: string[] } {
  const own = new URL(config.publicUrl).hostname
  const local = localhostAllowedHostnames()
  return {
    hosts: [own, ...local, ...config.mcpHosts],
    origins: [
      own,
      ...config.consoleOrigins.map((origin) => new URL(origin).hostname),
      ...(local.includes(own) ? local : []),
    ],
  }
}
