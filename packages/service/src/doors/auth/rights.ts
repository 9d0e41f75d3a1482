// What a session may do: one that was opened by a signature that names nothing reads, as that signature could.
import type { Context } from '../../kit/context.ts'
import { isChange, type Route } from '../../kit/route.ts'
import { Unauthenticated } from './caller.ts'
import type { Holder } from './sessions.ts'
import { hostOf } from './sign-in.ts'

/** Refuses a session that may only read where something changes or an admin is asked for. */
export function requireRight(context: Context, { mayOnlyRead }: Holder, route: Route): void {
  if (!mayOnlyRead || (!isChange(route) && route.auth !== 'admin')) return
  const body = JSON.stringify({ domain: hostOf(context) })
  throw new Unauthenticated(
    `this session may only read: open a full one at POST /v1/auth/session, with a message of Sign-In with Ethereum or with a signed request whose body is ${body}`,
  )
}
