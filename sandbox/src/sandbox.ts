import type { Market } from '@referrer/contracts/local'
import type { World } from './program.ts'
import type { SandboxState } from './state.ts'

/** The demo market; one shop with three products; or nothing but the accounts. */
export type Contents = 'demo' | 'small' | 'empty'

/** One that runs in this process. */
export interface Sandbox {
  state: SandboxState
  market: Market
  world: World
  databaseUrl: string
}
