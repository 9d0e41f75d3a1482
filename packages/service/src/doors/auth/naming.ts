// What a body has to say so that its signature is for one request only: a signature covers neither method nor path nor host.
import { RequestSignature } from '@referrer/protocol'
import type { Context } from '../../kit/context.ts'
import { Naming, needsName, type Route } from '../../kit/route.ts'
import { Unauthenticated } from './caller.ts'

type Site = Pick<Context, 'config'>
type Named = { params: unknown; body?: unknown }

/** Whether the body of a request names it; one that names another request is refused. */
export function isNamed(site: Site, route: Route, request: Named): boolean {
  const { params, body } = request
  const isAsked = route.isBare || needsName(route)
  const given = isAsked && Buffer.isBuffer(body) ? Naming.safeParse(parsed(body)).data : undefined
  if (!given) return false
  const { action, domain } = nameOf(site, route, params)
  if (given.action === action && given.domain === domain) return true
  throw unnamed(site, route, request)
}

/** The refusal of a request whose body does not name it. */
export const unnamed = (site: Site, route: Route, { params }: Named): Unauthenticated =>
  new Unauthenticated(
    `a signature covers neither method nor path nor host: sign the body ${JSON.stringify(nameOf(site, route, params))}, or send the token of a session`,
  )

function nameOf({ config }: Site, { method, path }: Route, params: unknown): RequestSignature.Naming {
  const values = params as Record<string, string>
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  return RequestSignature.nameRequest(config.publicUrl, method, filled)
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
