/** What the server gives to render a page. */
export interface PageRequest {
  /** Path and query. */
  url: string
  /** The market's public address, without a slash at the end. */
  origin: string
  theme: 'light' | 'dark' | undefined
  /** Asks the market: as a stranger, or as the visitor who is signed in. */
  fetch: typeof fetch
  /** Whether `fetch` asks as a visitor who is signed in: pages that need a session are rendered with what belongs to it. */
  isSignedIn: boolean
}

export interface PageAnswer {
  status: number
  html: string
  /** Where to go instead. */
  location?: string
  /** Why the page says that it cannot be shown, where that is our fault. */
  error?: unknown
}
