// Renders pages on the server: complete for whoever only reads, and a beginning for the browser.
import { dehydrate } from '@tanstack/react-query'
import { createMemoryHistory } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { createApi } from './api/api.ts'
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

/** Whether there is a page at a path. */
export function hasPage(path: string): boolean {
  try {
    return matching.getMatchedRoutes(path)[2] !== undefined
  } catch {
    // A path that cannot be decoded.
    return false
  }
}

export async function render(request: PageRequest, manifest: Manifest): Promise<PageAnswer> {
  const { origin, theme, fetch } = request
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
  const isPrivate = router.matchRoutes(router.state.location).some(({ staticData }) => staticData.isPrivate)
  if (isPrivate)
    return { status: 200, html: documentOf({ manifest, theme, matches: [], body: '', state: undefined }) }

  await router.load()
  const result = router._serverResult
  if (!result) throw new Error('the router ended without a result')
  if (result.type === 'redirect') {
    return { status: 302, html: '', location: router.resolveRedirect(result.redirect).options.href ?? '/' }
  }
  const body = renderToString(
    <StrictMode>
      <App router={router} context={context} />
    </StrictMode>,
  )
  const state = { queries: dehydrate(context.queries), renderedAt: context.renderedAt }
  context.queries.clear()
  const error = result.matches.find(({ status }) => status === 'error')?.error
  const status = error instanceof ApiError ? error.status || 503 : result.status
  return {
    status,
    html: documentOf({ manifest, theme, matches: result.matches, body, state }),
    ...(status >= 500 && { error }),
  }
}
