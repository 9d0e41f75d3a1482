import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import type { AppContext } from '../frame/context.ts'
import { NowProvider } from '../ui/now.tsx'
import type { AppRouter } from './router.ts'

export const App = ({ router, context }: { router: AppRouter; context: AppContext }) => (
  <QueryClientProvider client={context.queries}>
    <NowProvider renderedAt={context.renderedAt}>
      <RouterProvider router={router} />
    </NowProvider>
  </QueryClientProvider>
)
