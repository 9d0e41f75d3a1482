import type { ParamsOption } from 'openapi-fetch'
import type { paths } from './generated/openapi.ts'
import type { LISTINGS } from './generated/routes.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/**
 * The paths that can be called with a method.
 *
 * @example
 * ```ts
 * import type { PathOf } from '@referrer/client'
 *
 * export const path: PathOf<'post'> = '/v1/proof'
 * ```
 */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never
}[keyof paths]

type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>

/**
 * What a route takes: `params.path`, `params.query`, `body`.
 *
 * @example
 * ```ts
 * import type { RequestOf } from '@referrer/client'
 *
 * export const request: RequestOf<'/v1/agent/{id}', 'get'> = { params: { path: { id: 7 } } }
 * ```
 */
export type RequestOf<P extends keyof paths, M extends Method> = ParamsOption<Operation<P, M>> &
  BodyOf<Operation<P, M>> & { signal?: AbortSignal }

type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { body: B }
  : { body?: never }

/**
 * What a route answers; `undefined` where the answer has no body.
 *
 * @example
 * ```ts
 * import type { AnswerOf } from '@referrer/client'
 *
 * export const isFlagged = (agent: AnswerOf<'/v1/agent/{id}', 'get'>): boolean => agent.flagged
 * ```
 */
export type AnswerOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? { [S in keyof R]: ContentOf<R[S]> }[keyof R] : never

type ContentOf<R> = R extends { content: infer C }
  ? 'application/json' extends keyof C
    ? C['application/json']
    : C[keyof C]
  : undefined

/**
 * The routes that answer page by page.
 *
 * @example
 * ```ts
 * import type { ListingPath } from '@referrer/client'
 *
 * export const path: ListingPath = '/v1/review'
 * ```
 */
export type ListingPath = keyof typeof LISTINGS

/**
 * One entry of a listing.
 *
 * @example
 * ```ts
 * import type { EntryOf } from '@referrer/client'
 *
 * export const titleOf = (review: EntryOf<'/v1/review'>) => `review ${review.internal_id} of ${review.product_id}`
 * ```
 */
export type EntryOf<P extends ListingPath> =
  AnswerOf<P, 'get'> extends infer A
    ? A extends { [K in (typeof LISTINGS)[P]['items']]: readonly (infer E)[] }
      ? E
      : never
    : never

/** The request may be left out where nothing of it is required. */
export type Arguments<R> = Record<never, never> extends R ? [request?: R] : [request: R]

/** A request without the types of its route. */
export interface AnyRequest {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown> }
  body?: unknown
  signal?: AbortSignal
  /** Instead of the credentials that the client would choose. */
  presented?: Record<string, string>
}

export type Call = (method: Method, path: string, request?: AnyRequest) => Promise<unknown>
