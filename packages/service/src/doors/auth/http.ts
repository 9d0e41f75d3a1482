import { z } from 'zod'
import { momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { newNonce } from './nonces.ts'
import { closeSession } from './sessions.ts'
import { signIn, signInByRequest } from './sign-in.ts'

const Session = z
  .object({
    token: z.string().meta({ about: 'Send it as `Authorization: Bearer <token>`.' }),
    expires_at: momentShown,
  })
  .meta({ id: 'Session' })

const SignIn = z
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

export const authRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/auth/nonce',
    tag: 'Sessions',
    summary: 'A nonce to sign in with',
    about: 'For one sign-in, within five minutes.',
    auth: 'none',
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
      'With a message of Sign-In with Ethereum (EIP-4361), or, for programs, with a signed request whose body names our host. The token stands for the signer on every route that asks for a signature.',
    auth: 'sign-in',
    body: { schema: z.union([SignIn, SignedRequest]), refusal: 'invalid request' },
    response: Session,
    async handle({ context, caller, client, body }) {
      const { token, expiresAt } =
        'domain' in body
          ? await signInByRequest(context, caller, body.domain)
          : await signIn(context, body, client)
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
