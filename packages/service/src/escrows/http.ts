import type { Route } from '../http/route.ts'

export const escrowRoutes: Route[] = []
