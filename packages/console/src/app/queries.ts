import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/error.ts'
import { forgetSession } from '../session/session.ts'

const mayRepeat = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503

export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) forgetSession(queries)
  }
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (count, error) => count < 2 && mayRepeat(error) },
    },
  })
  return queries
}
