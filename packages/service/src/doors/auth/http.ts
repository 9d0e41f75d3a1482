import { z } from 'zod'
import { momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import { newNonce } from './nonces.ts'
import {
  closeOtherSessions,
  closeSession,
  closeSessionById,
  LISTED_SESSIONS,
  listSessions,
} from './sessions.ts'
import { signIn, signInByRequest } from './sign-in.ts'

const Session = z
  .object({
    token: z.string().meta({ about: 'Send it as `Authorization: Bearer <token>`.' }),
    expires_at: momentShown,
  })
  .meta({ id: 'Session' })

export const SignIn = z
  .strictObject({
    message: z.string().meta({
      about:
        'EIP-4361: our domain, a URI of ours, version 1, a chain of this service, a nonce of `GET /v1/auth/nonce`, and when it was issued.',
      shown: { type: 'string' },
    }),
    signature: z.string().meta({
      about:
        'Of the account that the message names, EIP-191. A wallet that is a contract signs as ERC-1271 or ERC-6492 say.',
      shown: { type: 'string', pattern: '^0x(?:[0-9a-fA-F]{2})+$' },
    }),
  })
  .meta({ id: 'SignIn' })

const SignedRequest = z
  .strictObject({
    domain: z
      .string()
      .meta({ about: 'Our host: that of the address that you call.', shown: { type: 'string' } }),
  })
  .meta({ id: 'SignInByRequest' })

const Sessions = z
  .object({
    sessions: z.array(
      z.object({
        session_id: z.uuid(),
        opened_at: momentShown,
        expires_at: momentShown,
        is_current: z.boolean().meta({ about: 'Whether the request was made with it.' }),
        may_only_read: z.boolean().meta({ about: 'Whether a signature over an empty body has opened it.' }),
        user_agent: z
          .string()
          .meta({ about: 'What the program that signed in called itself; may be empty.' }),
      }),
    ),
  })
  .meta({ id: 'Sessions' })

export const authRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/auth/nonce',
    tag: 'Sessions',
    summary: 'A nonce to sign in with',
    about: 'For one sign-in, within five minutes.',
    auth: 'none',
    reads: 'primary',
    headers: { 'cache-control': 'no-store' },
    response: z.object({ nonce: z.string() }).meta({ id: 'Nonce' }),
    handle: async ({ context }) => ({ nonce: await newNonce(context) }),
  }),
  route({
    method: 'POST',
    path: '/v1/auth/session',
    tag: 'Sessions',
    summary: 'Open a session',
    about:
      'With a message of Sign-In with Ethereum (EIP-4361), or, for programs, with a signed request whose body names our host. The token stands for the signer on every route that asks for a signature. A signed request without a body opens one for ten minutes that may only read: it can call every GET of its signer and every POST that changes nothing, and is no admin.',
    auth: 'sign-in',
    body: { schema: z.union([SignIn, SignedRequest]), refusal: 'invalid request', isOptional: true },
    response: Session,
    async handle({ context, caller, client, userAgent, body }) {
      const { token, expiresAt } =
        body === undefined || 'domain' in body
          ? await signInByRequest(context, caller, { domain: body?.domain, userAgent })
          : await signIn(context, body, { client, userAgent })
      return { token, expires_at: time(expiresAt) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/auth/session',
    tag: 'Sessions',
    summary: 'Close the session that the request is made with',
    auth: 'session',
    changes: false,
    status: 204,
    async handle({ context, token = '' }) {
      await closeSession(context, token)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/auth/sessions',
    tag: 'Sessions',
    summary: 'The open sessions of the caller, newest first',
    about: `At most ${LISTED_SESSIONS}. A contract wallet sees those of the chain that it signed in on.`,
    auth: 'session',
    reads: 'primary',
    response: Sessions,
    async handle({ context, token = '' }) {
      const rows = await listSessions(context, token)
      const sessions = rows.map(({ opened_at, expires_at, ...row }) => ({
        session_id: row.session_id,
        opened_at: time(opened_at),
        expires_at: time(expires_at),
        is_current: row.is_current,
        may_only_read: row.may_only_read,
        user_agent: row.user_agent,
      }))
      return { sessions }
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/auth/sessions/{session_id}',
    tag: 'Sessions',
    summary: 'Close a session of the caller',
    auth: 'session',
    params: z.object({
      session_id: z.uuid().meta({ refusal: 'invalid session_id', about: 'The session, by its id.' }),
    }),
    status: 204,
    refusals: { 404: 'not found' },
    async handle({ context, token = '', params }) {
      if (await closeSessionById(context, token, params.session_id)) return
      throw new MarketError('not found', 'not found')
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/auth/sessions',
    tag: 'Sessions',
    summary: 'Close all sessions of the caller but the one that the request is made with',
    auth: 'session',
    status: 204,
    handle: ({ context, token = '' }) => closeOtherSessions(context, token),
  }),
]
