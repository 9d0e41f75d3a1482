export { addFigures } from './add-figures.ts'
export { createCache } from './cache.ts'
export type { ChainConfig } from './chains-config.ts'
export { closeApp } from './close-app.ts'
export { type CommonConfig, commonVariables, readConfiguration } from './common-config.ts'
export { bringUpToDate, openConfigured } from './database.ts'
export {
  ConfigError,
  describeVariables,
  type Env,
  optional,
  readEnvironment,
  required,
  type Table,
  type Values,
  withDefault,
} from './environment.ts'
export { type Figure, programFigures } from './figures.ts'
export * from './keys/index.ts'
export * from './limits/index.ts'
export { createLoader } from './loader.ts'
export { createLog } from './log.ts'
export { type MetricsPort, openMetricsPort } from './metrics-port.ts'
export { measureRequests, metricsRoute, type RequestMetrics } from './metrics-routes.ts'
export { oncePer } from './once.ts'
export { readInBackground } from './read-in-background.ts'
export * as Read from './readers.ts'
export { RequestLog } from './request-log.ts'
export { refuseConnection, requestIdOf } from './requests.ts'
export { failStart, type Program, runUntilSignal } from './run.ts'
export { Secret } from './secret.ts'
export { sharedQuestion } from './shared-question.ts'
export {
  currentOrigin,
  currentRequestId,
  followRequests,
  outsideRequests,
} from './tracing/request-context.ts'
export { NO_TRACING, openTracing } from './tracing/tracing.ts'
export { createTransactionTraces } from './tracing/transactions.ts'
export type { Tracing } from './tracing/types.ts'
export { withTimeout } from './with-timeout.ts'
