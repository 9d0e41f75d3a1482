// Who is signed in. The server renders public pages as for a stranger: there only the browser asks.
import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Api, read } from '../api/api.ts'
import { useApi } from '../api/use-api.ts'

/** What everybody else's key of the session's query begins with. */
export const SESSION_PATH = '/console/session'
/** Browsers take no longer delay of a timer. */
const LONGEST_DELAY_MS = 2_147_483_647

export interface Session {
  address: string
  isAdmin: boolean
  /** When it ends, as RFC 3339. */
  expiresAt: string
}

export interface SessionState {
  /** Null: nobody is signed in. */
  session: Session | null
  /** Whether the market is a sandbox with accounts to play with. */
  isSandbox: boolean
}

export const sessionQuery = (api: Api) =>
  queryOptions({
    ...read(api, SESSION_PATH),
    staleTime: 60_000,
    select: ({ address, is_admin, expires_at, is_sandbox }): SessionState => ({
      session: address && expires_at ? { address, isAdmin: is_admin, expiresAt: expires_at } : null,
      isSandbox: is_sandbox,
    }),
    // Asked again when it ends, so that the page does not go on as if it had not.
    refetchInterval: ({ state: { data } }) => {
      const left = data?.expires_at ? Date.parse(data.expires_at) - Date.now() : 0
      return left > 0 ? Math.min(left + 1_000, LONGEST_DELAY_MS) : false
    },
  })

/** Undefined until it is known. */
export function useSession(): SessionState | undefined {
  return useQuery(sessionQuery(useApi())).data
}

/** The market refused a session: it ended, or was closed elsewhere. */
export const forgetSession = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: [SESSION_PATH] })

/** What was answered to one account is not for the next. */
export function clearAnswers(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_PATH })
}

/** Closes the session and leaves the page, so that nothing private stays in memory. */
export function useSignOut(): () => Promise<void> {
  const api = useApi()
  const queries = useQueryClient()
  return async () => {
    await api.delete(SESSION_PATH)
    queries.clear()
    location.assign('/')
  }
}
