import type { Route } from '../../kit/route.ts'
import { agentCasesRoute } from './agents.ts'
import { disputeCaseRoute } from './disputes.ts'
import { healthRoute } from './health.ts'

export const operatorRoutes: Route[] = [healthRoute, agentCasesRoute, disputeCaseRoute]
