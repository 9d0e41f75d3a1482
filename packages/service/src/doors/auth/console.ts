// The session of the web console. Its token is in a cookie only, and never in an answer, so that no script can read it.
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { Answer, type Route, route } from '../../kit/route.ts'
import { clearedCookie, sessionCookie } from './cookie.ts'
import { SignIn } from './http.ts'
import { hasAccounts } from './sandbox-accounts.ts'
import { closeSession, type Session, sessionOf } from './sessions.ts'
import { signIn } from './sign-in.ts'

const ConsoleSession = z
  .object({
    address: accountShown.nullable().meta({ about: 'Null: nobody is signed in.' }),
    expires_at: momentShown.nullable(),
    is_admin: z.boolean(),
    is_sandbox: z.boolean().meta({ about: 'Whether `GET /console/accounts` has accounts to play with.' }),
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
    about: 'It is no error that nobody is: browsers would show one on every page.',
    response: ConsoleSession,
    async handle({ context, token }) {
      return shown(context, token ? await sessionOf(context, token) : undefined)
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

const shown = ({ config }: Context, session: Omit<Session, 'token'> | undefined) => ({
  address: session?.address ?? null,
  expires_at: session ? time(session.expiresAt) : null,
  is_admin: session !== undefined && !session.mayOnlyRead && config.adminAddresses.has(session.address),
  is_sandbox: hasAccounts(config),
})
