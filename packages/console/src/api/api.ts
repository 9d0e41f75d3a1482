// The market's routes, typed by its OpenAPI document.
import type { AnswerOf, PathOf, RequestOf } from '@referrer/client'
import { queryOptions } from '@tanstack/react-query'
import createFetch from 'openapi-fetch'
import { ApiError } from './error.ts'

type Method = 'get' | 'post' | 'put' | 'delete'
type Arguments<R> = Record<never, never> extends R ? [request?: R] : [request: R]
type Send<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...request: Arguments<RequestOf<P, M>>
) => Promise<AnswerOf<P, M>>

export interface Api {
  get: Send<'get'>
  post: Send<'post'>
  put: Send<'put'>
  delete: Send<'delete'>
}

/** Says that the request comes from this page: the session's cookie counts only then. */
const OWN_HEADER = { 'x-referrer-console': '1' }

export function createApi({ origin, fetch }: { origin: string; fetch?: typeof globalThis.fetch }): Api {
  const routes = createFetch<Record<string, never>>({
    baseUrl: origin,
    headers: OWN_HEADER,
    ...(fetch && { fetch: (request) => fetch(request) }),
  })
  const send =
    (method: Method) =>
    async (path: string, request: object = {}) => {
      const { data, error, response } = await routes
        .request(method, path as never, request as never)
        .catch((cause: unknown) => {
          throw ApiError.unreachable(path, cause)
        })
      if (response.ok) return data
      throw ApiError.of(path, response, error)
    }
  return { get: send('get'), post: send('post'), put: send('put'), delete: send('delete') } as Api
}

/** For queries that only read the market: the server asks them too. */
export const READ = { isRead: true }
export const isRead = ({ meta }: { meta?: Record<string, unknown> | undefined }): boolean =>
  meta?.isRead === true

/** The query of a GET route: its key is the path and what is asked. */
export const read = <P extends PathOf<'get'>>(
  api: Api,
  path: P,
  ...request: Arguments<RequestOf<P, 'get'>>
) =>
  queryOptions({
    meta: READ,
    queryKey: [path, (request[0] as { params?: object } | undefined)?.params ?? {}],
    queryFn: ({ signal }) => api.get(path, { ...request[0], signal } as never) as Promise<AnswerOf<P, 'get'>>,
  })
