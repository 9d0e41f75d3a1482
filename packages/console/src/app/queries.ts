import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/error.ts'
import { forgetSession, SESSION_PATH } from '../session/session.ts'

const mayRepeat = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503

export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) forgetSession(queries)
  }
  // The session's own question is not asked again when it is refused: it would be refused for ever.
  const onQueryError = (error: unknown, { queryKey }: { queryKey: readonly unknown[] }) => {
    if (queryKey[0] !== SESSION_PATH) onError(error)
  }
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: onQueryError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (count, error) => count < 2 && mayRepeat(error) },
    },
  })
  return queries
}
