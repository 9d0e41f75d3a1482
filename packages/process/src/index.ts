export { createCache } from './cache.ts'
export type { ChainConfig } from './chains-config.ts'
export { closeApp } from './close-app.ts'
export { type CommonConfig, commonVariables, readConfiguration } from './common-config.ts'
export { openConfigured } from './database.ts'
export {
  ConfigError,
  describeVariables,
  type Env,
  optional,
  required,
  type Table,
  type Values,
  withDefault,
} from './environment.ts'
export { createLoader } from './loader.ts'
export { createLog } from './log.ts'
export { metricsRoutes, type RequestMetrics } from './metrics-routes.ts'
export { oncePer } from './once.ts'
export * as Read from './readers.ts'
export { RequestLog } from './request-log.ts'
export { refuseConnection, requestIdOf } from './requests.ts'
export { failStart, runUntilSignal } from './run.ts'
export { Secret } from './secret.ts'
export { sharedQuestion } from './shared-question.ts'
export { withTimeout } from './with-timeout.ts'
