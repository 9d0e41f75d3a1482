import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { ConfigError, type Env } from '@referrer/process'

/** The variables of a file in the form NAME=value; what the environment itself sets wins. */
export function withFile(env: Env, file: string | undefined): Env {
  if (file === undefined) return env
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...env }
  } catch (error) {
    throw new ConfigError([
      `--config: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}); name a file with lines NAME=value`,
    ])
  }
}
