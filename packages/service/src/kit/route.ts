// A route is data: what it takes, who may call it, what it answers. The app serves it and the OpenAPI document describes it from the same.
import type { Address } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from './context.ts'

/**
 * `none`: anybody. `caller`: a signed request, or a session in its place. `session`: only that. `admin`: the session of an admin.
 * `sign-in`: a signed request, or a body that shows who sends it.
 */
export type Auth = 'none' | 'caller' | 'sign-in' | 'session' | 'admin'

export type RefusalStatus = 400 | 403 | 404 | 409 | 429 | 500 | 503 | 504

export interface Call<P, Q, B, A extends Auth> {
  context: Context
  /** The one that `chain_id` names, or the default. */
  chain: Chain
  isChainNamed: boolean
  caller: A extends 'none' ? undefined : A extends 'sign-in' ? Address | undefined : Address
  params: P
  query: Q
  body: B
  /** Of the session, when there is one. */
  token: string | undefined
  /** Whom the limits count for: an address, or a network of them. */
  client: string
  /** The header of that name. */
  accept: string | undefined
}

/** An answer that is not the route's usual one. */
export class Answer {
  readonly body: string | Buffer
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    body: string | Buffer,
    { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.body = body
    this.status = status
    this.headers = headers
  }
}

export interface RouteSpec<P, Q, B, A extends Auth> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With parameters in braces: `/v1/review/{id}`. */
  path: string
  /** The group in the reference. */
  tag: string
  summary: string
  about?: string
  auth: A
  params?: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<P>
  query?: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<Q>
  /** A body of JSON; `refusal` answers one that is no JSON or does not fit. */
  body?: { schema: z.ZodType<B>; refusal: string }
  /** Whether the query may name a chain. */
  takesChain?: boolean
  /** A limit of its own for each client, in requests a second, beside the one of all routes. */
  perSecond?: number
  status?: 200 | 201 | 204
  response?: z.ZodType
  /** Other than JSON. */
  contentType?: string
  /** What a caller may rather have than that, as text. */
  alsoAs?: string
  /** HTML for people whose browser is refused. */
  refusalPage?(context: Context, status: RefusalStatus): string
  /** On every answer, refusals too. */
  headers?: Readonly<Record<string, string>>
  /** To answer, where the time of all routes is too short. */
  answerTimeoutMs?: number
  /**
   * Texts of refusals. A 403, 404 or 500 answers with one of these: the operation's own message where it is listed, else the first. A
   * 400 or 409 answers with the operation's message; these are its examples.
   */
  refusals?: Partial<Record<RefusalStatus, string | readonly string[]>>
  /** A string or bytes are sent as they are. */
  handle(call: Call<P, Q, B, A>): unknown
}

/** A route whose types were checked when it was written. */
export type Route = RouteSpec<never, never, never, Auth>

export const route = <
  P = Record<string, never>,
  Q = Record<string, never>,
  B = undefined,
  A extends Auth = Auth,
>(
  spec: RouteSpec<P, Q, B, A>,
): Route => spec as unknown as Route

/** A read for everybody. */
export const isPublic = ({ auth, method }: Route): boolean => auth === 'none' && method === 'GET'

/** The path as Fastify writes it. */
export const urlOf = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

const DEFAULT_TEXTS: Record<number, string> = {
  403: 'not authorized',
  404: 'not found',
  500: 'internal error',
}

/** What a refused call answers. */
export function textOf({ refusals }: Route, status: RefusalStatus, message: string): string {
  if (status === 400 || status === 409) return message
  const texts = [refusals?.[status] ?? []].flat()
  return texts.includes(message) ? message : (texts[0] ?? DEFAULT_TEXTS[status] ?? message)
}
