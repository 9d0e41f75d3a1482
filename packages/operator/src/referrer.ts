import { type Command, CommandFailed, type Surroundings } from './command.ts'
import { backup } from './commands/backup/backup.ts'
import { restore } from './commands/backup/restore.ts'
import { accept } from './commands/deploy/accept.ts'
import { deploy } from './commands/deploy/deploy.ts'
import { discoveryRebuild } from './commands/discovery-rebuild.ts'
import { doctor } from './commands/doctor/doctor.ts'
import { rotate } from './commands/keys/rotate.ts'
import { migrate } from './commands/migrate.ts'
import { ranksRecompute } from './commands/ranks-recompute.ts'
import { reindex } from './commands/reindex.ts'
import { serve } from './commands/serve.ts'
import { withFile } from './environment.ts'

/** In the order in which an operator meets them. */
export const COMMANDS: readonly Command[] = [
  serve,
  migrate,
  deploy,
  accept,
  doctor,
  backup,
  restore,
  rotate,
  ranksRecompute,
  discoveryRebuild,
  reindex,
]

const OPTION = /^--config(?:=(.*))?$/s

/** Finds the command that the arguments name, and runs it. Returns the exit status. */
export async function runCommand(
  args: readonly string[],
  surroundings: Surroundings,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  const { file, rest } = takeConfig(args)
  const command = commands.find(({ name }) => rest.slice(0, name.split(' ').length).join(' ') === name)
  if (!command) {
    const wanted = rest[0]
    surroundings.print(usage(commands))
    if (wanted === undefined || wanted === '--help' || wanted === '-h' || wanted === 'help') return 0
    throw new CommandFailed(
      `there is no command ${rest.slice(0, 2).join(' ')}; the commands are listed above`,
    )
  }
  const given = rest.slice(command.name.split(' ').length)
  if (given.includes('--help') || given.includes('-h')) {
    surroundings.print(command.help())
    return 0
  }
  return await command.run(given, {
    ...surroundings,
    env: withFile(surroundings.env, file),
    configFile: file,
  })
}

/** `--config <file>` may stand anywhere. */
function takeConfig(args: readonly string[]): { file: string | undefined; rest: string[] } {
  const rest: string[] = []
  let file: string | undefined
  for (let at = 0; at < args.length; at += 1) {
    const option = OPTION.exec(args[at] as string)
    if (!option) rest.push(args[at] as string)
    else {
      file = option[1] ?? args[++at]
      if (!file) throw new CommandFailed('--config: expected the path of a file')
    }
  }
  return { file, rest }
}

function usage(commands: readonly Command[]): string {
  const width = Math.max(0, ...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Runs a market of Referrer, and looks after it.

Usage: referrer <command> [options]

${lines.join('\n')}

  --config <file>  a file with lines NAME=value; what the environment itself sets wins
  --help           of every command
`
}
