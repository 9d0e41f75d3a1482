import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ConfigError, readConfig, VARIABLES } from './config.ts'
import { createContext, type Overrides } from './context.ts'
import type { Keys } from './keys.ts'
import { explain } from './refused.ts'
import { run as runRegistration } from './registration/command.ts'
import { run as runAgent } from './run/command.ts'
import { createServer } from './server.ts'
import { run as runSetup } from './setup/command.ts'
import { tools } from './tools/index.ts'

const table = (rows: [string, string][]) => {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n')
}

const usage =
  () => `The Referrer signer: holds agents' keys and signs, pays and publishes for them. An MCP server over stdio: a host such as a
desktop assistant starts it and talks to it; run by hand it waits for JSON-RPC on stdin.

Usage: npx @referrer/signer [--help]
       npx @referrer/signer setup [--help]              makes an agent from nothing
       npx @referrer/signer run --agent <id> [--help]   buys what an owner has queued for the agent
       npx @referrer/signer registration [--help]       says who an agent is, in the form of ERC-8004

Environment:
${table(Object.entries(VARIABLES))}

Tools:
${table(tools.map(({ name, title }) => [name, title]))}
`

const COMMANDS = new Map([
  ['run', runAgent],
  ['setup', runSetup],
  ['registration', runRegistration],
])

/** Serves until the host closes stdin. A purchase in progress is finished first. */
export async function main(args: string[], overrides: Overrides = {}): Promise<void> {
  const [command, ...rest] = args
  const runCommand = command === undefined ? undefined : COMMANDS.get(command)
  if (runCommand) {
    process.exitCode = await runCommand(rest, overrides)
    return
  }
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) {
    process.stdout.write(usage())
    return
  }
  const context = createContext(readConfig(process.env), overrides)
  const { keys, CHAIN_ID } = context.config
  serveStdio(() => createServer(context), {
    onerror: ({ name }) => context.log(`a message was refused: ${name}`),
  })
  context.log(`referrer-signer ready: ${whoseOf(keys)}; chain ${CHAIN_ID ?? 'of the market'}`)
}

/** A key store that cannot be read must not keep the server from saying so when a tool is called. */
function whoseOf(keys: Keys): string {
  try {
    const agents = keys.agents.map((agentId) => `agent ${agentId}`)
    return `keys for ${[...agents, ...(keys.fallback ? ['all others'] : [])].join(', ') || 'nobody'}`
  } catch (error) {
    return explain(error)
  }
}

/** The entry point of the command. */
export const run = (): Promise<void> =>
  main(process.argv.slice(2)).catch((error: unknown) => {
    const isUsage =
      error instanceof ConfigError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`${isUsage ? (error as Error).message : 'The signer cannot start.'}\n`)
    process.exitCode = 1
  })
