import { z } from 'zod'
import { momentShown } from '../http/fields.ts'
import { type Route, route } from '../http/route.ts'
import { MarketError } from '../market-error.ts'
import { time } from '../present.ts'
import { closeSession, openSession } from './sessions.ts'

const Session = z
  .object({
    token: z.string().meta({ about: 'Send it as `Authorization: Bearer <token>`.' }),
    expires_at: momentShown,
  })
  .meta({ id: 'Session' })

export const authRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/auth/session',
    tag: 'Sessions',
    summary: 'Open a session',
    about:
      'Signed over an empty body. The token stands for the signer on every route that asks for a signature.',
    auth: 'signature',
    response: Session,
    refusals: { 400: 'invalid request' },
    async handle({ context, caller, hasBody }) {
      if (hasBody) throw new MarketError('invalid input', 'invalid request')
      const { token, expiresAt } = await openSession(context, caller)
      return { token, expires_at: time(expiresAt) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/auth/session',
    tag: 'Sessions',
    summary: 'Close the session that the request is made with',
    auth: 'session',
    status: 204,
    async handle({ context, token = '' }) {
      await closeSession(context, token)
    },
  }),
]
