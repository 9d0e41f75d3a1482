// A route is a plain object: its input, who may call it, its answers. The HTTP door serves it and generates the OpenAPI document from it.
import type { Address } from 'viem'
import { z } from 'zod'
import { type BodyLimits, USUAL_BODY } from './body-limits.ts'
import type { Config } from './config.ts'
import type { Chain, Context } from './context.ts'

/**
 * `none`: everybody. `caller`: a signed request or a session. `session`: a session only. `admin`: the session of an admin.
 * `sign-in`: a signed request, or a body with a signed message. `console`: our own web pages, with or without a session.
 * Where a session counts, the cookie of our own web pages counts, too.
 */
export type Auth = 'none' | 'caller' | 'sign-in' | 'session' | 'admin' | 'console'

export type RefusalStatus = 400 | 403 | 404 | 409 | 429 | 500 | 503 | 504

export interface Call<P, Q, B, A extends Auth> {
  context: Context
  /** The chain of the parameter `chain_id`, or the default chain. */
  chain: Chain
  isChainNamed: boolean
  /** Whether the caller has named this route: with a session, or in the body that is signed (see `Naming`). */
  isNamed: boolean
  caller: A extends 'none' | 'console' ? undefined : A extends 'sign-in' ? Address | undefined : Address
  params: P
  query: Q
  body: B
  /** The session token, when there is a session. With `console` it was not checked. */
  token: string | undefined
  /** Key of the client for rate limits: an IP address, or an IPv6 network. */
  client: string
  /** The Accept header. */
  accept: string | undefined
  /** The User-Agent header. */
  userAgent: string | undefined
}

/** An answer with another status or other headers than the route's usual ones. */
export class Answer {
  /** Undefined: none, and no content type. */
  readonly body: string | Buffer | undefined
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    body: string | Buffer | undefined,
    { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.body = body
    this.status = status
    this.headers = headers
  }
}

export interface RouteSpec<P, Q, B, A extends Auth> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path, with parameters in braces: `/v1/review/{id}`. */
  path: string
  /** The group of the route in the API reference. */
  tag: string
  summary: string
  about?: string
  auth: A
  /** Without it the route is always served; a route that is not served answers 404, as if there were none. */
  isServed?(config: Config): boolean
  params?: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<P>
  query?: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<Q>
  /**
   * The JSON body; `refusal` is the answer to a body that is not JSON or does not match the schema. A larger body than `most` is not read, one
   * with more values not parsed.
   */
  body?: { schema: z.ZodType<B>; refusal: string; isOptional?: true; most?: BodyLimits }
  /**
   * Left out, a GET changes nothing and everything else does. A session that may only read can call what changes nothing but that session
   * itself.
   */
  changes?: false
  /** Whether the signature of any request will do: what the body is not known for is ignored, and the operation looks at `isNamed`. */
  isBare?: true
  /**
   * Where a GET reads: from a replica that has what the caller wrote, which may lag behind what others wrote, or from the primary only: for
   * what money, credentials or the decisions of operators depend on.
   */
  reads?: 'replica' | 'primary'
  /** Whether the query has a parameter `chain_id`. */
  takesChain?: boolean
  /** Whether the answer has an ETag; a caller who sends it in `If-None-Match` gets 304 while the answer stays the same. */
  hasEtag?: boolean
  /** Seconds for which caches may use an answer with an ETag before they ask again; without it they ask each time. */
  maxAge?: number
  /** A rate limit of this route for each client, in requests per second, besides the common one. */
  perSecond?: number
  status?: 200 | 201 | 204
  response?: z.ZodType
  /** Content type of the answer, where it is not JSON. */
  contentType?: string
  /** A second content type that the caller can choose with the Accept header. */
  alsoAs?: string
  /** Renders a refusal as HTML, for callers whose browser asks for HTML. */
  refusalPage?(context: Context, status: RefusalStatus): string
  /** Headers of every answer, refusals included. */
  headers?: Readonly<Record<string, string>>
  /** Time limit for this route's answer, where the common one is too short. */
  answerTimeoutMs?: number
  /**
   * Texts of refusals by status. A 400 or 409 answers with the operation's message, and these texts are examples of it. Every other status
   * answers with the operation's message where it is listed here, else with the first text of the list.
   */
  refusals?: Partial<Record<RefusalStatus, string | readonly string[]>>
  /** Runs the operation. A returned string or buffer is sent as it is; other values are sent as JSON. */
  handle(call: Call<P, Q, B, A>): unknown
}

/** A route without its type parameters; `route` has checked them. */
export type Route = RouteSpec<never, never, never, Auth>

export const route = <
  P = Record<string, never>,
  Q = Record<string, never>,
  B = undefined,
  A extends Auth = Auth,
>(
  spec: RouteSpec<P, Q, B, A>,
): Route => spec as unknown as Route

/** Read only from the primary unless the route says otherwise: operators decide by it, and a session must be seen at once. */
const NEWEST: readonly Auth[] = ['admin', 'console']

/** Where a route does its work; a GET reads from replicas unless it says otherwise. */
export function accessOf({ method, auth, reads }: Route): 'replica' | 'primary' | 'write' {
  if (method !== 'GET') return 'write'
  return reads ?? (NEWEST.includes(auth) ? 'primary' : 'replica')
}

/** Whether calling the route changes anything. */
export const isChange = ({ method, changes }: Pick<Route, 'method' | 'changes'>): boolean =>
  method !== 'GET' && changes !== false

/**
 * What is signed in the body of a request that changes something and has no body of its own: a signature covers body and time alone, so that
 * of any GET would do otherwise.
 */
export const Naming = z
  .object({
    action: z.string().meta({
      about: 'The method and the path, such as `DELETE /v1/intents/7f`: a signature covers neither.',
      shown: { type: 'string' },
    }),
    domain: z
      .string()
      .meta({ about: 'Our host: that of the address that you call.', shown: { type: 'string' } }),
  })
  .meta({ id: 'Naming' })

const NAMING = { schema: Naming, refusal: 'invalid request', isOptional: true } as const

/** The body that a route takes: its own, or the one that names it. */
export const bodyOf = (route: Pick<Route, 'auth' | 'method' | 'changes' | 'body'>) =>
  route.body ?? (route.auth === 'caller' && isChange(route) ? NAMING : undefined)

/** Whether a request without a session has to name the route in its body. */
export const needsName = (route: Route): boolean => bodyOf(route) === NAMING && !route.isBare

/** Whether a route is a read that needs no authentication. */
export const isPublic = ({ auth, method }: Route): boolean => auth === 'none' && method === 'GET'

export const bodyLimitsOf = ({ body }: Route): BodyLimits => body?.most ?? USUAL_BODY

/** The path in Fastify's notation. */
export const urlOf = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

const DEFAULT_TEXTS: Record<number, string> = {
  403: 'not authorized',
  404: 'not found',
  500: 'internal error',
}

/** The text of a refusal's answer. */
export function textOf({ refusals }: Route, status: RefusalStatus, message: string): string {
  if (status === 400 || status === 409) return message
  const texts = [refusals?.[status] ?? []].flat()
  return texts.includes(message) ? message : (texts[0] ?? DEFAULT_TEXTS[status] ?? message)
}
