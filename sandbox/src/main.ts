// npm start: the whole market on one machine.
import { parseArgs } from 'node:util'
import { complain } from './complain.ts'
import { startDatabases } from './databases.ts'
import { createEnds } from './ends.ts'
import { type Chains, readPorts, requireFree } from './ports.ts'
import type { Contents } from './sandbox.ts'
import { screen } from './screen.ts'
import { databaseDirectory, removeState, requireOwnDirectory, statePath, writeState } from './state.ts'
import { removeToolServers, writeToolServers } from './tool-servers.ts'

const HELP = `Runs the market on this machine, for trying out and for development.

  npm start             with a demo market: shops, products, reviews, purchases of the last hundred days
  npm start -- --small  with one shop, three products and five reviews
  npm start -- --empty  with nothing but the accounts
  npm start -- --chains 2  with a second chain, on which a shop sells as well

Environment:
  PORT_OFFSET   shifts every port, so that sandboxes can run side by side (default 0)
  SANDBOX_DIR   where state.json is written, another for each that runs (default .sandbox, or .sandbox-<PORT_OFFSET>)
  LOG_LEVEL     what the service and the facilitator log (default warn)

What runs, and every account's key, is written to state.json; referrer-mcp.json beside it names the tool servers. Ctrl-C ends it.`

const started = Date.now()
const say = (text: string) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)

async function main(contents: Contents, chains: Chains) {
  const ports = readPorts(process.env, chains)
  const path = statePath(process.env)
  await requireFree(ports)
  await requireOwnDirectory(path)
  forget(path)

  const ends = createEnds()
  let isStopping = false
  // One Ctrl-C can arrive several times: from the terminal, from npm and from the runner.
  async function stop(exitCode: number) {
    if (isStopping) return
    isStopping = true
    say('stopping')
    forget(path)
    const problems = await ends.all()
    for (const problem of problems) complain(problem)
    process.exit(problems.length > 0 ? 1 : exitCode)
  }
  process.on('SIGINT', () => stop(0))
  process.on('SIGTERM', () => stop(0))

  try {
    const logLevel = process.env.LOG_LEVEL ?? 'warn'
    say('starting Postgres and loading the programs')
    // In a process of its own, beside all that the service waits for, which is told if it fails.
    const builtConsole = import('@referrer/console').then(({ buildConsole }) =>
      buildConsole({ onStart: () => say('building the console beside the rest') }),
    )
    builtConsole.catch(() => {})
    const [databases, { bringUp }] = await Promise.all([
      ends.add(
        () => startDatabases(databaseDirectory(path, ports.service)),
        (server) => server.stop(),
      ),
      // Loaded here, not with this file: it takes seconds, in which Postgres starts in a process of its own.
      import('./bring-up.ts'),
    ])
    const { state } = await bringUp({ ports, databases, logLevel, ends, say, contents, builtConsole })
    if (isStopping) return
    writeState(path, state)
    writeToolServers(path, state)
    console.log(screen(state, path, process.env))
    console.log('sandbox ready')
  } catch (error) {
    // A part that is stopped while it starts fails because of that.
    if (isStopping) return
    complain(error)
    await stop(1)
  }
}

function forget(path: string): void {
  removeState(path)
  removeToolServers(path)
}

function chainsOf(text: string): Chains {
  const chains = ([1, 2] as const).find((number) => String(number) === text)
  if (!chains) throw new Error(`--chains must be 1 or 2, not "${text}"`)
  return chains
}

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    empty: { type: 'boolean', default: false },
    chains: { type: 'string', default: '1' },
  },
})
if (flags.help) {
  console.log(HELP)
} else {
  try {
    await main(flags.empty ? 'empty' : flags.small ? 'small' : 'demo', chainsOf(flags.chains))
  } catch (error) {
    complain(error)
    process.exit(1)
  }
}
