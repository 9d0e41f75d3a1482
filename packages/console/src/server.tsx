// Renders pages on the server: complete for whoever only reads, and a beginning for the browser.
import { dehydrate, type Query, type QueryClient } from '@tanstack/react-query'
import { createMemoryHistory } from '@tanstack/react-router'
import { type ReactNode, StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { createApi, isRead } from './api/api.ts'
import { ApiError } from './api/error.ts'
import { App } from './app/app.tsx'
import { documentOf, type Manifest } from './app/document.ts'
import type { PageAnswer, PageRequest } from './app/page-request.ts'
import { createQueries } from './app/queries.ts'
import { createAppRouter } from './app/router.ts'
import type { AppContext } from './frame/context.ts'

const ORIGIN_FOR_MATCHING = 'http://localhost'
const matching = createAppRouter(
  {
    api: createApi({ origin: ORIGIN_FOR_MATCHING }),
    queries: createQueries(),
    origin: ORIGIN_FOR_MATCHING,
    renderedAt: 0,
  },
  createMemoryHistory(),
)

/** Pages of a session ask for one thing after another; what is deeper than this the browser asks for. */
const MOST_PASSES = 6

function matchedAt(path: string) {
  try {
    return matching.getMatchedRoutes(path)[2]
  } catch {
    // A path that cannot be decoded.
    return undefined
  }
}

/** Whether there is a page at a path. */
export const hasPage = (path: string): boolean => matchedAt(path) !== undefined

/** Whether what is at a path belongs to whoever is signed in. */
export const isPrivate = (path: string): boolean => matchedAt(path)?.options.staticData?.isPrivate === true

export async function render(request: PageRequest, manifest: Manifest): Promise<PageAnswer> {
  const { origin, theme, fetch, isSignedIn } = request
  const context: AppContext = {
    api: createApi({ origin, fetch }),
    queries: createQueries(),
    origin,
    renderedAt: Date.now(),
  }
  context.queries.setDefaultOptions({
    queries: { ...context.queries.getDefaultOptions().queries, retry: false },
  })
  const router = createAppRouter(context, createMemoryHistory({ initialEntries: [request.url] }))
  await router.load()
  const result = router._serverResult
  if (!result) throw new Error('the router ended without a result')
  if (result.type === 'redirect') {
    return { status: 302, html: '', location: router.resolveRedirect(result.redirect).options.href ?? '/' }
  }
  const { matches } = result
  const app = (
    <StrictMode>
      <App router={router} context={context} />
    </StrictMode>
  )
  const body = isSignedIn ? await renderAnswered(app, context.queries) : renderToString(app)
  const state = { queries: dehydrate(context.queries), renderedAt: context.renderedAt }
  context.queries.clear()
  const error = matches.find(({ status }) => status === 'error')?.error
  const status = error instanceof ApiError ? error.status || 503 : result.status
  const isPrivate = matches.some(({ staticData }) => staticData.isPrivate)
  return {
    status,
    html: documentOf({ manifest, theme, matches, body, isPrivate, state }),
    ...(status >= 500 && { error }),
  }
}

/** Renders again with the answers to what the page asked for, until it asks for nothing more. What fails is left to the browser. */
async function renderAnswered(app: ReactNode, queries: QueryClient): Promise<string> {
  const asked = new Set<Query>()
  let body = renderToString(app)
  for (let pass = 1; pass < MOST_PASSES; pass++) {
    const wanted = queries
      .getQueryCache()
      .getAll()
      .filter((query) => isWanted(query) && !asked.has(query))
    if (wanted.length === 0) break
    await Promise.all(wanted.map((query) => query.fetch().catch(() => query.reset())))
    for (const query of wanted) asked.add(query)
    body = renderToString(app)
  }
  return body
}

const isWanted = ({ meta, state, options }: Query): boolean =>
  isRead({ meta }) && state.status === 'pending' && (options as { enabled?: unknown }).enabled !== false
