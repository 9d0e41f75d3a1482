import { type ParseArgsConfig, parseArgs } from 'node:util'

type Values<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>['values']

/** What was asked for on the command line; ends the program when it cannot be understood. */
export function readOptions<const Config extends ParseArgsConfig>(config: Config): Values<Config> {
  try {
    return parseArgs(config).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}: --help tells what there is`)
    process.exit(1)
  }
}
