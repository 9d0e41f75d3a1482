import { checklistsRoute } from './checklists/route.ts'
import { disputesRoute } from './disputes/route.ts'
import { flagsRoute } from './flags/route.ts'
import { overviewRoute } from './overview/route.ts'
import { proofsRoute } from './proofs/route.ts'

export const operatorRoutes = [
  overviewRoute,
  proofsRoute,
  disputesRoute,
  flagsRoute,
  checklistsRoute,
] as const
