export { type Config, readConfig } from './config.ts'
export type { Chain, ChainHealth, Context, SenderHealth } from './context.ts'
export { migrations, serviceMigrations } from './db/migrations.ts'
export { type Overrides, type Service, startService } from './service.ts'
