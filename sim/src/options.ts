import { type ParseArgsConfig, parseArgs } from 'node:util'

type Values<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>['values']

/** Parses the command line; ends the program if it is invalid. */
export function readOptions<const Config extends ParseArgsConfig>(config: Config): Values<Config> {
  try {
    return parseArgs(config).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}; see --help`)
    process.exit(1)
  }
}
