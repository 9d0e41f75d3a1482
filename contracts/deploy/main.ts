// npm run deploy -w contracts -- [factory | accept] --config <file> [--dry-run]
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import {
  createClient,
  defineChain,
  formatEther,
  formatGwei,
  http,
  isHex,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { accept, pendingAcceptances } from './accept.ts'
import { readAddressBook, writeAddressBook } from './address-book.ts'
import { type DeploymentConfig, readDeploymentConfig } from './config.ts'
import { type DeploymentClient, executePlan } from './execute.ts'
import { deployFactory } from './factory.ts'
import { type Plan, planDeployment } from './plan.ts'

const HELP = `Deploys the protocol's contracts to a chain, or finishes a deployment that was interrupted.

  npm run deploy -w contracts -- --config <file> [--book <file>] [--dry-run]
  npm run deploy -w contracts -- factory --config <file>
  npm run deploy -w contracts -- accept --config <file> [--book <file>] [--dry-run]

  factory           bring the CREATE2 factory to a chain that lacks it; public networks have it
  accept            take over as admin and as owner of the address registry what a deployment handed to you;
                    what a multisig or a timelock has to accept is printed with its calldata
  --config <file>   parties and existing contracts; see contracts/deployments/*.example.json
  --book <file>     address book to read and write (default: contracts/deployments/<chainId>.json)
  --dry-run         print every step, what is done already and what the rest would cost; send nothing
  --help            this text

Environment:
  RPC_URL                the chain's JSON-RPC endpoint
  DEPLOYER_PRIVATE_KEY   the key that sends; with --dry-run DEPLOYER_ADDRESS is enough
  ADMIN_PRIVATE_KEY      the key that accepts; left out: everything is printed and nothing sent

Running it again is safe: what is deployed stays, only what is missing is sent.`

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

function accountOf(name: 'DEPLOYER_PRIVATE_KEY' | 'ADMIN_PRIVATE_KEY') {
  const key = process.env[name]
  if (!key) return undefined
  if (!isHex(key) || key.length !== 66) fail(`${name} must be 0x and 64 hex digits`)
  return privateKeyToAccount(key)
}

/** npm runs this in the folder of the contracts: a path means what it meant where npm was called. */
const pathOf = (path: string) => resolve(process.env.INIT_CWD ?? '.', path)

async function connect(rpcUrl: string, chainId: number): Promise<DeploymentClient> {
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const client = createClient({ chain, transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
  const served = await client
    .getChainId()
    .catch((error) => fail(`RPC_URL does not answer: ${error.shortMessage ?? error}`))
  if (served !== chainId) fail(`RPC_URL serves chain ${served}, the config is for chain ${chainId}`)
  return client
}

async function printPlan(plan: Plan, client: DeploymentClient): Promise<void> {
  for (const step of plan.steps) {
    const mark = step.done ? '✓' : step.sender ? '!' : '·'
    console.log(`${mark} ${step.title}${step.sender ? ` (to be sent by ${step.sender})` : ''}`)
  }
  const open = plan.steps.filter((step) => !step.done)
  if (open.length === 0) return console.log('\nnothing left to do')
  // Later steps call contracts that are not there yet, so only the deployments can be estimated by size: 200 gas a byte of code.
  const gas = open.reduce((sum, step) => sum + 60_000n + BigInt(step.data.length / 2) * 216n, 0n)
  const gasPrice = await client.getGasPrice()
  console.log(
    `\n${open.length} transactions left, about ${gas} gas: ${formatEther(gas * gasPrice)} ETH at ${formatGwei(gasPrice)} gwei`,
  )
}

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    config: { type: 'string' },
    book: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (flags.help) {
  console.log(HELP)
  process.exit(0)
}
const [command = 'deploy', ...more] = positionals
if (!['deploy', 'factory', 'accept'].includes(command) || more.length > 0)
  fail(`there is no command "${positionals.join(' ')}"; --help tells more`)
if (!flags.config) fail('name a config with --config <file>; --help tells more')
const rpcUrl = process.env.RPC_URL ?? fail('set RPC_URL to the chain’s JSON-RPC endpoint')

async function deploy(client: DeploymentClient, config: DeploymentConfig, path: string): Promise<void> {
  const account = accountOf('DEPLOYER_PRIVATE_KEY')
  const sender = account?.address ?? process.env.DEPLOYER_ADDRESS ?? fail('set DEPLOYER_PRIVATE_KEY')
  const book = readAddressBook(path, config.chainId)
  const startBlock = book?.startBlock ?? Number(await client.getBlockNumber())
  const plan = await planDeployment(client, sender as `0x${string}`, config, book?.contracts)
  await printPlan(plan, client)
  if (flags['dry-run']) return
  if (!account) fail('set DEPLOYER_PRIVATE_KEY to deploy')
  // Written before anything is sent: the addresses are known, and a run that is cut short is found again.
  writeAddressBook(path, { chainId: config.chainId, startBlock, contracts: plan.addresses })
  await executePlan(plan, client, account, (step, index, total) =>
    console.log(`[${index}/${total}] ${step.title}`),
  )
  console.log(`\naddress book: ${path}`)
}

async function acceptAll(client: DeploymentClient, config: DeploymentConfig, path: string): Promise<void> {
  const book =
    readAddressBook(path, config.chainId) ?? fail(`there is no address book at ${path}: deploy first`)
  const account = flags['dry-run'] ? undefined : accountOf('ADMIN_PRIVATE_KEY')
  const pending = await pendingAcceptances(client, book.contracts)
  const rest = await accept(client, account, pending, ({ title }) => console.log(`✓ ${title}`))
  if (pending.length === 0) console.log('nothing to accept')
  for (const { title, by, to, data, after } of rest) {
    const from = after > 0 ? `, after ${new Date(after * 1_000).toISOString()}` : ''
    console.log(`! ${title}: to be sent by ${by}${from}\n    to ${to} data ${data}`)
  }
}

try {
  const config = readDeploymentConfig(pathOf(flags.config))
  const path = flags.book
    ? pathOf(flags.book)
    : fileURLToPath(new URL(`../deployments/${config.chainId}.json`, import.meta.url))
  const client = await connect(rpcUrl, config.chainId)
  if (command === 'factory') {
    const account = accountOf('DEPLOYER_PRIVATE_KEY') ?? fail('set DEPLOYER_PRIVATE_KEY')
    await deployFactory(client, account, console.log)
  } else if (command === 'accept') await acceptAll(client, config, path)
  else await deploy(client, config, path)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
