import type { Route } from '../http/route.ts'

export const manifestRoutes: Route[] = []
