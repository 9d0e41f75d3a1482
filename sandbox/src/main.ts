// npm start: the whole market on one machine.
import { parseArgs } from 'node:util'
import { compileContracts, deployMarket, startLocalChain } from '@referrer/contracts/local'
import { startMarketService } from './market-service.ts'
import { settleIn } from './people.ts'
import { HOST, readPorts, requireFree } from './ports.ts'
import { databaseDirectory, removeState, type SandboxState, statePath, writeState } from './state.ts'

const HELP = `Runs the market on this machine, for trying out and for development.

  npm start

Environment:
  PORT_OFFSET   shifts every port, so that two sandboxes can run side by side (default 0)
  SANDBOX_DIR   where state.json is written (default .sandbox)
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

  say('compiling the contracts (the first time takes about a minute)')
  const tick = setInterval(() => say('still compiling'), 10_000)
  await compileContracts().finally(() => clearInterval(tick))
  say('starting the chain')
  const local = await startLocalChain({ port: ports.chain })
  if (!local.rpcUrl) throw new Error('the chain has no RPC endpoint')
  const running: (() => Promise<unknown>)[] = [() => local.close()]
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  say('deploying the contracts')
  const market = await deployMarket(local.client)
  const accounts = await settleIn(market)
  say('starting the service')
  const chain = { rpcUrl: local.rpcUrl, chainId: local.chain.id, contracts: market.addresses, accounts }
  const service = await startMarketService({
    ...chain,
    directory: databaseDirectory(process.env),
    host: HOST,
    port: ports.service,
    logLevel: process.env.LOG_LEVEL ?? 'warn',
  })
  running.unshift(() => service.stop())
  const state = { baseUrl: service.url, ...chain }
  writeState(path, state)
  console.log(screen(state, path))
  console.log('sandbox ready')

  let stopping = false
  // One Ctrl-C can arrive several times: from the terminal, from npm and from the runner.
  async function stop() {
    if (stopping) return
    stopping = true
    removeState(path)
    for (const end of running) await end()
    process.exit(0)
  }
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
    `  try: curl -s ${baseUrl}/readyz`,
    '',
  ].join('\n')
}

const { values: flags } = parseArgs({ options: { help: { type: 'boolean', default: false } } })
if (flags.help) {
  console.log(HELP)
} else {
  await main().catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })
}
