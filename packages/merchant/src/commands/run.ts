import { runCommand as runCheck } from '../check/command.ts'
import { explain, type Output, readProject, reporterOf } from '../shop/index.ts'
import { parseFlags, type Surroundings, shopOf, UsageError } from './flags.ts'
import { COMMANDS } from './table.ts'

const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length))

export const HELP = `Sell through ref links.

  referrer-merchant <command> [flags]

${Object.entries({ ...COMMANDS, check: { summary: 'check an endpoint as buyers will; never pays' } })
  .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

referrer-merchant <command> --help tells the rest.

Exit code: 0 when all is well, 1 when something failed, 2 when the command is wrong.`

/** Runs a command and returns its exit code. */
export async function runCommands(
  args: string[],
  surroundings: Surroundings,
  output: Output,
): Promise<number> {
  const { out, err } = output
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === 'help') {
    out(HELP)
    return name === undefined ? 2 : 0
  }
  if (name === 'check') return check(args, surroundings, output)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    err(`there is no command "${name}"\nTry: referrer-merchant --help`)
    return 2
  }
  try {
    const values = parseFlags(rest, command.options)
    if (values.help) {
      out(command.help)
      return 0
    }
    const isJson = values.json === true
    const reporter = reporterOf(output, { isJson })
    const act = await command.prepare(values, surroundings)
    const { data, lines, ok = true } = await act(await shopOf(values, surroundings, reporter))
    if (isJson) out(JSON.stringify({ ...data, steps: reporter.steps }, null, 2))
    else if (lines.length > 0) out(lines.join('\n'))
    return ok ? 0 : 1
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${error.message}\nTry: referrer-merchant ${name} --help`)
      return 2
    }
    err(explain(error))
    return 1
  }
}

async function check(args: string[], { env, directory }: Surroundings, output: Output): Promise<number> {
  try {
    return await runCheck(args, env, output, readProject(directory).data)
  } catch (error) {
    output.err(explain(error))
    return 1
  }
}
