import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/error.ts'

const mayRepeat = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503

export const createQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (count, error) => count < 2 && mayRepeat(error) },
    },
  })
