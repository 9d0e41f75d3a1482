export { type Config, readConfig } from './config.ts'
export type { Chain, Context } from './context.ts'
export { type Facilitator, migrations, type Overrides, startFacilitator } from './facilitator.ts'
