export { type ChainConfig, readChains } from './chains-config.ts'
export { closeApp } from './close-app.ts'
export { type CommonConfig, commonVariables, readConfiguration } from './common-config.ts'
export { openConfigured } from './database.ts'
export {
  ConfigError,
  describeVariables,
  type Env,
  optional,
  type Reader,
  readEnvironment,
  required,
  type Table,
  type Values,
  type Variable,
  withDefault,
} from './environment.ts'
export { createLog, type LogLevel } from './log.ts'
export * as Read from './readers.ts'
export { failStart, type Program, runUntilSignal } from './run.ts'
export { Secret } from './secret.ts'
export { sharedQuestion } from './shared-question.ts'
