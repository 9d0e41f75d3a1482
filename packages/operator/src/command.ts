import type { Env } from '@referrer/process'

/** What a command is given, so that tests can set it. */
export interface Surroundings {
  /** The environment, completed by the configuration file. */
  env: Env
  /** The path of the configuration file, if one was named. */
  configFile?: string | undefined
  print(text: string): void
}

export interface Command {
  /** One word or two: `doctor`, `keys rotate`. */
  name: string
  summary: string
  /** What `--help` prints; evaluated when it is asked for. */
  help(): string
  /** Returns the exit status. A program that keeps running resolves when it is ready. */
  run(args: string[], surroundings: Surroundings): Promise<number>
}

/** Ends a command with one message for the operator, who is told what to do next and sees no stack. */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
}
