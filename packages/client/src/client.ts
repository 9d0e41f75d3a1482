import type { Address } from 'viem'
import { marketUrlOf } from './chain/index.ts'
import { createCredentials, type Session } from './credentials.ts'
import { ReferrerError } from './error.ts'
import { entriesOf } from './pages.ts'
import { type ConnectedWallet, type ProvidedWallet, type SigningAccount, signerOf } from './signer.ts'
import { createCall } from './transport.ts'
import { type Ballot, castVotes, type Place, type Pledge, setCashbackRate } from './two-steps.ts'
import type {
  AnswerOf,
  AnyRequest,
  Arguments,
  Call,
  EntryOf,
  ListingPath,
  PathOf,
  RequestOf,
} from './types.ts'

/**
 * @example
 * ```ts
 * import type { ReferrerClientOptions } from '@referrer/client'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * export const options: ReferrerClientOptions = {
 *   url: 'http://127.0.0.1:8080',
 *   account: privateKeyToAccount(`0x${'11'.repeat(32)}`),
 *   chainId: 31337,
 *   retries: 0,
 * }
 * ```
 */
export interface ReferrerClientOptions {
  /** The market. */
  url: string
  /** Signs every request that needs it, until there is a session. */
  account?: SigningAccount | undefined
  /** A person's wallet: it is asked once, for a session, and for every commitment. */
  wallet?: ConnectedWallet | ProvidedWallet | undefined
  /**
   * One from an earlier `signIn`. `'cookie'`, for pages that the market serves: the session is the cookie that `POST /console/session`
   * sets. Then nothing is signed but commitments.
   */
  session?: Session | 'cookie' | undefined
  /** The chain of all requests that name no other; left out, the market's first. */
  chainId?: number | undefined
  /** The contract that commitments are for, where you know it better than from the market: see `readDeployment`. */
  reviewRegistry?: Address | undefined
  fetch?: typeof fetch
  /** Milliseconds since 1970. */
  now?: () => number
  /** How often a request is repeated that failed and may be repeated. */
  retries?: number
  /** For one attempt. */
  timeoutMs?: number
}

/**
 * Every route of a market by its path, and what takes more than one request.
 *
 * @example
 * ```ts
 * import { createReferrerClient, type ReferrerClient } from '@referrer/client'
 *
 * const ask = async (market: ReferrerClient, intent: string) => {
 *   const { products } = await market.get('/v1/discover', { params: { query: { intent } } })
 *   return products.map(({ name }) => name)
 * }
 * const market = createReferrerClient({ url: 'https://market.test', fetch: async () => Response.json({ products: [{ name: 'Weather' }] }) })
 * await ask(market, 'a weather API') // → ['Weather']
 * ```
 */
export interface ReferrerClient {
  /** The market's URL, without a slash at the end. */
  url: string
  get<P extends PathOf<'get'>>(
    path: P,
    ...request: Arguments<RequestOf<P, 'get'>>
  ): Promise<AnswerOf<P, 'get'>>
  post<P extends PathOf<'post'>>(
    path: P,
    ...request: Arguments<RequestOf<P, 'post'>>
  ): Promise<AnswerOf<P, 'post'>>
  put<P extends PathOf<'put'>>(
    path: P,
    ...request: Arguments<RequestOf<P, 'put'>>
  ): Promise<AnswerOf<P, 'put'>>
  delete<P extends PathOf<'delete'>>(
    path: P,
    ...request: Arguments<RequestOf<P, 'delete'>>
  ): Promise<AnswerOf<P, 'delete'>>
  /**
   * The entries of a listing, read page by page while you loop; at most `most` of them. What enters or leaves the listing meanwhile can be
   * missed or come twice.
   */
  pages<P extends ListingPath>(
    path: P,
    ...request: Arguments<RequestOf<P, 'get'> & { most?: number }>
  ): AsyncGenerator<EntryOf<P>, void>
  /** Votes for the reviews that informed a purchase: once for a purchase. Signed by the owner of the agent that bought. */
  castVotes(ballot: Ballot): Promise<AnswerOf<'/v1/votes/step2', 'post'>>
  /** Sets what an agent gives back to buyers, for its future reviews. Signed by the agent's owner. */
  setCashbackRate(pledge: Pledge): Promise<AnswerOf<'/v1/cashback-rate/step2', 'post'>>
  /** Opens a session, by Sign-In with Ethereum; from then on it stands for the signature, and is renewed when it ends. */
  signIn(): Promise<Session>
  /** Ends the session at the market, too. */
  signOut(): Promise<void>
}

/**
 * @example
 * ```ts
 * import { createReferrerClient } from '@referrer/client'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * const market = createReferrerClient({
 *   url: 'https://market.test/',
 *   account,
 *   fetch: async (_url, init) => Response.json({ signed: new Headers(init?.headers).has('x-agent-signature') }),
 * })
 * market.url // → 'https://market.test'
 * await market.get('/v1/agent/{id}/context', { params: { path: { id: 7 } } }) // → { signed: true }
 * await market.get('/v1/agent/{id}', { params: { path: { id: 7 } } }) // → { signed: false }
 * ```
 */
export function createReferrerClient(options: ReferrerClientOptions): ReferrerClient {
  const { chainId, session, now = Date.now, retries = 2, timeoutMs = 30_000 } = options
  const url = marketUrlOf(options.url)
  const signer = signerOf(options)
  const call: Call = createCall({
    url,
    chainId,
    // Called without a receiver: browsers refuse their own fetch as a method of another object.
    fetch: (input, init) => (options.fetch ?? fetch)(input, init),
    now,
    retries,
    timeoutMs,
    credentials: () => credentials,
  })
  const place = () => placeOf(call, options)
  const chainToSignInOn = async () => chainId ?? (await place()).chainId
  const credentials = createCredentials({ url, chainId: chainToSignInOn, signer, session, now, call })
  const twoSteps = { call, signer, now, place }
  const method =
    (name: 'get' | 'post' | 'put' | 'delete') =>
    (path: string, request?: AnyRequest): Promise<never> =>
      call(name, path, request) as Promise<never>

  return {
    url,
    get: method('get'),
    post: method('post'),
    put: method('put'),
    delete: method('delete'),
    pages: (path, request?: AnyRequest & { most?: number }) =>
      entriesOf(call, path, request) as AsyncGenerator<never, void>,
    castVotes: (ballot) => castVotes(twoSteps, ballot),
    setCashbackRate: (pledge) => setCashbackRate(twoSteps, pledge),
    signIn: credentials.signIn,
    signOut: credentials.signOut,
  }
}

/** The chain and the contract that a commitment has to name: those that the caller knows, else those of the market's manifest. */
async function placeOf(call: Call, { chainId, reviewRegistry }: ReferrerClientOptions): Promise<Place> {
  if (chainId !== undefined && reviewRegistry) return { chainId, reviewRegistry }
  const path = '/.well-known/referrer-agent'
  const { chains } = (await call('get', path)) as AnswerOf<typeof path, 'get'>
  const told = chainId === undefined ? chains[0] : chains.find((chain) => chain.chainId === chainId)
  if (!told) {
    throw new ReferrerError(`GET ${path}`, { reason: `the market does not work on chain ${chainId}` })
  }
  return { chainId: told.chainId, reviewRegistry: reviewRegistry ?? (told.reviewRegistry as Address) }
}
