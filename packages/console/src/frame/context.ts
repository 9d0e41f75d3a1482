import type { QueryClient } from '@tanstack/react-query'
import type { Api } from '../api/api.ts'

/** What every route's loader and page gets. */
export interface AppContext {
  api: Api
  queries: QueryClient
  /** The market's public address, without a slash at the end. */
  origin: string
  /** When the page was rendered, in milliseconds: the server and the browser's first rendering show the same. */
  renderedAt: number
}
