import { parseArgs } from 'node:util'
import {
  checkBuild,
  deployFactory,
  executePlan,
  type Plan,
  planDeployment,
  readAddressBook,
  writeAddressBook,
} from '@referrer/contracts/deploy'
import { optional, Read } from '@referrer/process'
import { formatEther, formatGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Command, CommandFailed } from '../../command.ts'
import { FLAGS, openTarget, orFail, type Target } from './target.ts'

const VARIABLES = {
  DEPLOYER_PRIVATE_KEY: optional(Read.privateKey, 'the key that sends'),
  DEPLOYER_ADDRESS: optional(Read.address, 'its address, which is enough for --dry-run'),
}
const OPTIONS = { ...FLAGS, 'no-build-check': { type: 'boolean', default: false } } as const
type Deployment = Target<typeof VARIABLES>
type Print = (line: string) => void

export const deploy: Command = {
  name: 'deploy',
  summary: 'deploys the contracts to a chain, or finishes a deployment that was interrupted',
  help: () => `Deploys the protocol's contracts to a chain, or finishes a deployment that was interrupted.

Usage: referrer deploy <file> [--book <file>] [--dry-run]
       referrer deploy factory <file>

  <file>            parties and existing contracts as JSON; see contracts/deployments/*.example.json
  factory           bring the CREATE2 factory to a chain that lacks it; public networks have it
  --book <file>     address book to read and write (default: contracts/deployments/<chain id>.json)
  --dry-run         print every step, what is done already and what the rest would cost; send nothing
  --no-build-check  do not compile the sources to see whether contracts/compiled is what they give

Environment:
  RPC_URL               the chain's JSON-RPC endpoint
  DEPLOYER_PRIVATE_KEY  the key that sends; with --dry-run DEPLOYER_ADDRESS is enough

Running it again is safe: what is deployed stays, only what is missing is sent.
`,
  async run(args, { env, print }) {
    const { values: flags, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
    const isFactory = positionals[0] === 'factory'
    const [file, ...more] = isFactory ? positionals.slice(1) : positionals
    if (more.length > 0) throw new CommandFailed(`deploy takes one file, not also ${more.join(' ')}`)
    const tell = (line: string) => print(`${line}\n`)
    const target = await openTarget(file, flags, VARIABLES, env)
    await orFail(async () => {
      if (isFactory) return deployFactory(target.client, senderOf(target), tell)
      if (!flags['no-build-check']) await requireBuild(tell)
      await deployTo(target, flags['dry-run'], tell)
    })
    return 0
  },
}

async function deployTo(target: Deployment, isDryRun: boolean, tell: Print): Promise<void> {
  const { client, config, book: path, values } = target
  const sender = isDryRun ? (values.DEPLOYER_ADDRESS ?? senderOf(target).address) : senderOf(target).address
  const book = readAddressBook(path, config.chainId)
  const startBlock = book?.startBlock ?? Number(await client.getBlockNumber())
  const plan = await planDeployment(client, sender, config, book?.contracts)
  await tellPlan(plan, target, tell)
  if (isDryRun) return
  // Written before anything is sent: the addresses are known, and a run that is cut short is found again.
  writeAddressBook(path, { chainId: config.chainId, startBlock, contracts: plan.addresses })
  await executePlan(plan, client, senderOf(target), (step, index, total) =>
    tell(`[${index}/${total}] ${step.title}`),
  )
  tell('\nTo run the market on these contracts, set:')
  tell(`DEPLOYMENTS=${path}`)
  tell(`RPC_URLS_${config.chainId}=${shownUrl(target.rpcUrl.reveal())}`)
}

function senderOf({ values }: Deployment) {
  const key = values.DEPLOYER_PRIVATE_KEY
  if (!key) throw new CommandFailed('set DEPLOYER_PRIVATE_KEY, or DEPLOYER_ADDRESS for a dry run')
  return privateKeyToAccount(key.reveal())
}

async function requireBuild(tell: Print): Promise<void> {
  tell('comparing contracts/compiled with the sources (about a minute the first time)')
  const trouble = await checkBuild()
  if (trouble !== undefined) throw new CommandFailed(trouble)
}

async function tellPlan(plan: Plan, { client }: Deployment, tell: Print): Promise<void> {
  for (const step of plan.steps) {
    const mark = step.done ? '✓' : step.sender ? '!' : '·'
    tell(`${mark} ${step.title}${step.sender ? ` (to be sent by ${step.sender})` : ''}`)
  }
  const open = plan.steps.filter((step) => !step.done)
  if (open.length === 0) return tell('\nnothing left to do')
  // Later steps call contracts that are not there yet, so only the deployments can be estimated by size: 200 gas a byte of code.
  const gas = open.reduce((sum, step) => sum + 60_000n + BigInt(step.data.length / 2) * 216n, 0n)
  const gasPrice = await client.getGasPrice()
  tell(
    `\n${open.length} transactions left, about ${gas} gas: ${formatEther(gas * gasPrice)} ETH at ${formatGwei(gasPrice)} gwei`,
  )
}

/** A label of a host that is longer than this is taken for a key. */
const LONGEST_LABEL = 20

/** Providers put their keys into the path, the query or the host name. */
export function shownUrl(text: string): string {
  const { username, password, pathname, search, hostname, origin } = new URL(text)
  const isPlain = !username && !password && !search && pathname === '/'
  const hasLongLabel = hostname.split('.').some((label) => label.length > LONGEST_LABEL)
  return isPlain && !hasLongLabel ? origin : '<the value of RPC_URL>'
}
