// What a request shows of its caller: a signature of its own, the token of a session, or the cookie of the market's own pages.
import { RequestSignature } from '@referrer/protocol'
import { createSiweMessage } from 'viem/siwe'
import { ReferrerError } from './error.ts'
import type { ROUTES } from './generated/routes.ts'
import type { Signer } from './signer.ts'
import { nextTimestamp } from './timestamps.ts'
import type { AnswerOf, Call } from './types.ts'

/**
 * A session, as the market gives it. Keep it, and another client can go on with it: `createReferrerClient({ url, session })`.
 *
 * @example
 * ```ts
 * import { createReferrerClient, type Session } from '@referrer/client'
 *
 * const session: Session = { token: 'A'.repeat(43), expires_at: '2030-01-01T00:00:00Z' }
 * export const market = createReferrerClient({ url: 'https://market.test', session })
 * ```
 */
export type Session = AnswerOf<'/v1/auth/session', 'post'>

type Auth = (typeof ROUTES)[keyof typeof ROUTES]['auth']

export interface Credentials {
  /** The headers of a request. */
  present(
    route: string,
    request: { auth: Auth; method: string; target: string; body: string },
  ): Promise<Record<string, string>>
  /** Whether other credentials can be had than these, which were refused. */
  renews(presented: Record<string, string>): boolean
  signIn(): Promise<Session>
  signOut(): Promise<void>
}

interface Options {
  url: string
  /** The chain to sign in on. */
  chainId: () => Promise<number>
  signer: Signer | undefined
  session: Session | 'cookie' | undefined
  now: () => number
  call: Call
}

/** A session is renewed a little before its end, so that it does not end on the way. */
const BEFORE_END_MS = 30_000
/** The end of a session that the market does not know any more. */
const OVER = new Date(0).toISOString()

export function createCredentials(options: Options): Credentials {
  const { session, ...others } = options
  return session === 'cookie' ? cookieCredentials(options.call) : ownCredentials({ ...others, session })
}

/**
 * For pages of the market: the browser adds the cookie, and the header tells that it is not a request of another site. The page opens the
 * session itself, with `POST /console/session`.
 */
const cookieCredentials = (call: Call): Credentials => ({
  present: async (_route, { auth }) =>
    auth === 'none' || auth === 'sign-in' ? {} : { 'x-referrer-console': '1' },
  renews: () => false,
  async signIn() {
    throw new ReferrerError('POST /v1/auth/session', {
      reason: 'the session is a cookie',
      detail: 'sign in with POST /console/session, which sets it',
    })
  },
  async signOut() {
    await call('delete', '/console/session')
  },
})

function ownCredentials(options: Omit<Options, 'session'> & { session: Session | undefined }): Credentials {
  const { signer, now, call } = options
  let session = options.session
  let opening: Promise<Session> | undefined

  async function open(): Promise<Session> {
    if (!signer) throw missing('a session')
    const [{ nonce }, chainId] = await Promise.all([
      call('get', '/v1/auth/nonce') as Promise<AnswerOf<'/v1/auth/nonce', 'get'>>,
      options.chainId(),
    ])
    const message = createSiweMessage({
      address: signer.address,
      domain: new URL(options.url).host,
      uri: options.url,
      version: '1',
      chainId,
      nonce,
      issuedAt: new Date(now()),
    })
    const body = { message, signature: await signer.signMessage(message) }
    session = (await call('post', '/v1/auth/session', { body })) as Session
    return session
  }

  /** Requests that come together share one sign-in. */
  function signIn(): Promise<Session> {
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  async function bearer(): Promise<Record<string, string>> {
    const isOver = !session || now() >= Date.parse(session.expires_at) - BEFORE_END_MS
    const current = isOver && signer ? await signIn() : session
    if (!current) throw missing('a session')
    return { authorization: `Bearer ${current.token}` }
  }

  return {
    signIn,
    async present(route, { auth, method, target, body }) {
      if (auth === 'none' || auth === 'sign-in') return {}
      if (auth === 'console') throw ofPages(route)
      if (auth === 'session' || session || signer?.asksPerson) return bearer()
      if (!signer) throw missing('a signature', route)
      const isRead = method === 'GET'
      // The market takes the signature of a read as often as it comes, and all reads of a second have the same one.
      const timestamp = isRead
        ? Math.floor(now() / 1_000)
        : await nextTimestamp(signer.key, `${method} ${target} ${body}`, now)
      const signMessage: RequestSignature.RequestSigner['signMessage'] = ({ message }) =>
        signer.signMessage(message)
      return RequestSignature.serialize(
        await RequestSignature.sign({ signMessage }, isRead ? '' : body, timestamp),
      )
    },
    renews({ authorization }) {
      if (!authorization || !signer) return false
      // Another request may have renewed it meanwhile.
      if (session && authorization === `Bearer ${session.token}`) session = { ...session, expires_at: OVER }
      return true
    },
    async signOut() {
      const ended = session
      session = undefined
      if (!ended) return
      const presented = { authorization: `Bearer ${ended.token}` }
      await call('delete', '/v1/auth/session', { presented }).catch((error: unknown) => {
        // It had ended before.
        if (!(error instanceof ReferrerError) || error.status !== 401) throw error
      })
    },
  }
}

const missing = (what: string, route = 'POST /v1/auth/session') =>
  new ReferrerError(route, {
    reason: `the route needs ${what}`,
    detail: 'give createReferrerClient an account, a wallet or a session',
  })

const ofPages = (route: string) =>
  new ReferrerError(route, {
    reason: 'the route is for pages of the market',
    detail: "give createReferrerClient session: 'cookie' there, and elsewhere use /v1/auth/session",
  })
