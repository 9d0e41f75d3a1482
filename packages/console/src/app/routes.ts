// Every page of the console. A page's code is loaded when it is visited.
import { homeRoute } from '../pages/home/route.ts'
import { rootRoute } from './root.tsx'

export const routeTree = rootRoute.addChildren([homeRoute])
