// The session of the web console. Its token is in a cookie only, and never in an answer, so that no script can read it.
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { Answer, type Route, route } from '../../kit/route.ts'
import { Unauthenticated } from './caller.ts'
import { clearedCookie, sessionCookie } from './cookie.ts'
import { SignIn } from './http.ts'
import { closeSession, type Session, sessionOf } from './sessions.ts'
import { signIn } from './sign-in.ts'

const ConsoleSession = z
  .object({
    address: accountShown,
    expires_at: momentShown,
    is_admin: z.boolean(),
  })
  .meta({ id: 'ConsoleSession' })

const base = { path: '/console/session', tag: 'Sessions', auth: 'console' } as const

export const consoleRoutes: Route[] = [
  route({
    ...base,
    method: 'POST',
    summary: 'Open the session of the web console',
    about:
      'With a message of Sign-In with Ethereum. The token is set as a cookie that scripts cannot read. A session that the browser had before is closed.',
    body: { schema: SignIn, refusal: 'invalid request' },
    response: ConsoleSession,
    async handle({ context, token, client, userAgent, body }) {
      const session = await signIn(context, body, { client, userAgent })
      if (token) await closeSession(context, token)
      const seconds = Math.floor((session.expiresAt.getTime() - context.clock()) / 1_000)
      const cookie = sessionCookie(context.config, session.token, seconds)
      return new Answer(JSON.stringify(shown(context, session)), { headers: { 'set-cookie': cookie } })
    },
  }),
  route({
    ...base,
    method: 'GET',
    summary: 'Who is signed in to the web console',
    response: ConsoleSession,
    async handle({ context, token }) {
      const session = token && (await sessionOf(context, token))
      if (!session) throw new Unauthenticated('unknown or expired session')
      return shown(context, session)
    },
  }),
  route({
    ...base,
    method: 'DELETE',
    summary: 'Close the session of the web console and remove its cookie',
    status: 204,
    async handle({ context, token }) {
      if (token) await closeSession(context, token)
      return new Answer(undefined, { headers: { 'set-cookie': clearedCookie(context.config) } })
    },
  }),
]

const shown = ({ config }: Context, { address, expiresAt }: Omit<Session, 'token'>) => ({
  address,
  expires_at: time(expiresAt),
  is_admin: config.adminAddresses.has(address),
})
