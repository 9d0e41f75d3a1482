import { checklistsRoute } from './checklists/route.ts'
import { disputesRoute } from './disputes/route.ts'
import { flagsRoute } from './flags/route.ts'
import { overviewRoute } from './overview/route.ts'
import { proofsRoute } from './proofs/route.ts'
import { ringRoute } from './ring/route.ts'
import { ringsRoute } from './rings/route.ts'
import { shopsRoute } from './shops/route.ts'

export const operatorRoutes = [
  overviewRoute,
  proofsRoute,
  disputesRoute,
  flagsRoute,
  shopsRoute,
  ringsRoute,
  ringRoute,
  checklistsRoute,
] as const
