import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Account } from '../session/account.tsx'
import { ErrorPage, NotFoundPage } from '../ui/errors.tsx'
import { Layout } from '../ui/layout.tsx'
import type { AppContext } from './context.ts'

export const rootRoute = createRootRouteWithContext<AppContext>()({
  component: () => (
    <Layout account={<Account />}>
      <Outlet />
    </Layout>
  ),
  errorComponent: ({ error }) => (
    <Layout account={<Account />}>
      <ErrorPage error={error} />
    </Layout>
  ),
  notFoundComponent: NotFoundPage,
})
