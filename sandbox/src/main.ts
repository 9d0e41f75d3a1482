// npm start: the whole market on one machine.
import { parseArgs } from 'node:util'
import { compileContracts, deployMarket, startLocalChain } from '@referrer/contracts/local'
import { attestationPubKey, startMarketService } from './market-service.ts'
import { settleIn } from './people.ts'
import { HOST, type Ports, readPorts, requireFree } from './ports.ts'
import { databaseDirectory, removeState, type SandboxState, statePath, writeState } from './state.ts'

const HELP = `Runs the market on this machine, for trying out and for development.

  npm start

Environment:
  PORT_OFFSET   shifts every port, so that sandboxes can run side by side (default 0)
  SANDBOX_DIR   where state.json is written, another for each that runs (default .sandbox)
  LOG_LEVEL     what the service logs (default warn)

What runs, and every account's key, is written to state.json. Ctrl-C ends it.`

const started = Date.now()
const say = (text: string) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)

async function main() {
  const ports = readPorts(process.env)
  const path = statePath(process.env)
  await requireFree(ports)
  removeState(path)

  /** How to end what was started, the newest first. */
  const ends: (() => Promise<unknown>)[] = []
  let isStopping = false
  // One Ctrl-C can arrive several times: from the terminal, from npm and from the runner.
  async function stop(exitCode: number) {
    if (isStopping) return
    isStopping = true
    removeState(path)
    for (const end of ends) {
      await end().catch((error) => {
        complain(error)
        exitCode = 1
      })
    }
    process.exit(exitCode)
  }
  process.on('SIGINT', () => stop(0))
  process.on('SIGTERM', () => stop(0))

  try {
    const state = await bringUp(ports, path, ends)
    if (isStopping) return
    writeState(path, state)
    console.log(screen(state, path))
    console.log('sandbox ready')
  } catch (error) {
    // What is being stopped fails for that reason.
    if (isStopping) return
    complain(error)
    await stop(1)
  }
}

async function bringUp(ports: Ports, path: string, ends: (() => Promise<unknown>)[]): Promise<SandboxState> {
  say('compiling the contracts (the first time takes about a minute)')
  const tick = setInterval(() => say('still compiling'), 10_000)
  await compileContracts().finally(() => clearInterval(tick))
  say('starting the chain')
  const local = await startLocalChain({ port: ports.chain })
  ends.unshift(() => local.close())
  if (!local.rpcUrl) throw new Error('the chain has no RPC endpoint')
  say('deploying the contracts')
  const market = await deployMarket(local.client)
  const accounts = await settleIn(market)
  say('starting the service')
  const chain = { rpcUrl: local.rpcUrl, chainId: local.chain.id, contracts: market.addresses, accounts }
  const starting = startMarketService({
    ...chain,
    directory: databaseDirectory(path, ports.service),
    host: HOST,
    port: ports.service,
    logLevel: process.env.LOG_LEVEL ?? 'warn',
  })
  // Also while it starts; a start that fails has ended what it began.
  ends.unshift(() =>
    starting.then(
      (service) => service.stop(),
      () => {},
    ),
  )
  return { baseUrl: (await starting).url, ...chain, attestationPubKey: await attestationPubKey() }
}

function complain(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
}

function screen({ baseUrl, rpcUrl, chainId, contracts, accounts }: SandboxState, path: string): string {
  const row = (name: string, ...cells: unknown[]) =>
    `  ${name.padEnd(18)}${cells.filter((cell) => cell !== '').join('  ')}`
  const part = ({ agentId, merchantId }: { agentId?: number; merchantId?: number }) =>
    agentId !== undefined ? `agent ${agentId}` : merchantId !== undefined ? `merchant ${merchantId}` : ''
  return [
    '',
    row('service', baseUrl),
    row('chain', rpcUrl, `chain id ${chainId}`),
    '',
    ...Object.entries(contracts).map(([name, address]) => row(name, address)),
    '',
    ...accounts.map((account) => row(account.role, account.address, part(account))),
    '',
    `  keys and addresses: ${path}`,
    `  reference: ${baseUrl}/docs`,
    `  try: curl -s ${baseUrl}/v1/agent`,
    '',
  ].join('\n')
}

const { values: flags } = parseArgs({ options: { help: { type: 'boolean', default: false } } })
if (flags.help) {
  console.log(HELP)
} else {
  await main().catch((error) => {
    complain(error)
    process.exit(1)
  })
}
