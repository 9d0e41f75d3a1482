// Goes on in the browser with what the server rendered.
import { type DehydratedState, hydrate } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createApi } from './api/api.ts'
import { App } from './app/app.tsx'
import { createQueries } from './app/queries.ts'
import { createAppRouter } from './app/router.ts'
import type { AppContext } from './frame/context.ts'

const { queries, renderedAt }: { queries: DehydratedState; renderedAt: number } = JSON.parse(
  document.getElementById('state')?.textContent as string,
)

const context: AppContext = {
  api: createApi({ origin: location.origin }),
  queries: createQueries(),
  origin: location.origin,
  renderedAt,
}
hydrate(context.queries, queries)
const router = createAppRouter(context)
const app = (
  <StrictMode>
    <App router={router} context={context} />
  </StrictMode>
)
const element = document.getElementById('app') as HTMLElement

/** Titles follow the page: the server wrote only the first. */
router.subscribe('onResolved', () => {
  const meta = router.state.matches.flatMap((match) => match.meta ?? [])
  const title = meta.findLast((entry) => entry && 'title' in entry)
  if (title && 'title' in title) document.title = String(title.title)
})

// As on the server there is no suspense boundary around the page: the markup has to be the same.
router.ssr = { manifest: undefined }
router.load().then(() => {
  if (element.hasChildNodes()) hydrateRoot(element, app)
  // As a page that only the browser renders would begin: bench:console compares.
  else createRoot(element).render(app)
})
