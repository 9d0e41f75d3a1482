import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { ErrorPage, NotFoundPage } from '../ui/errors.tsx'
import { Layout } from '../ui/layout.tsx'
import type { AppContext } from './context.ts'

export const rootRoute = createRootRouteWithContext<AppContext>()({
  component: () => (
    <Layout>
      <Outlet />
    </Layout>
  ),
  errorComponent: ({ error }) => (
    <Layout>
      <ErrorPage error={error} />
    </Layout>
  ),
  notFoundComponent: NotFoundPage,
})
