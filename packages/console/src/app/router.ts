import { createRouter, type RouterHistory } from '@tanstack/react-router'
import type { AppContext } from '../frame/context.ts'
import { ErrorPage, NotFoundPage } from '../ui/errors.tsx'
import { PageSkeleton } from '../ui/skeleton.tsx'
import { routeTree } from './routes.ts'

export const createAppRouter = (context: AppContext, history?: RouterHistory) =>
  createRouter({
    routeTree,
    context,
    ...(history && { history }),
    defaultPreload: 'intent',
    // The query cache decides what is fresh.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: PageSkeleton,
    // On the server it would be an inline script.
    scrollRestoration: typeof document !== 'undefined',
  })

export type AppRouter = ReturnType<typeof createAppRouter>

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter
  }
  interface StaticDataRouteOption {
    /** Shows what belongs to whoever is signed in. */
    isPrivate?: boolean
    /** Folder of its page below `src/pages`: the document preloads the code. */
    page?: string
  }
}
