// What `deploy` and `accept` have in common: the deployment that they are about, and the node that they reach it by.
import { resolve } from 'node:path'
import {
  type DeploymentClient,
  type DeploymentConfig,
  defaultBook,
  readDeploymentConfig,
} from '@referrer/contracts/deploy'
import {
  ConfigError,
  type Env,
  readEnvironment,
  required,
  Secret,
  type Table,
  type Values,
} from '@referrer/process'
import { BaseError, createClient, defineChain, http, publicActions, walletActions } from 'viem'
import { CommandFailed } from '../../command.ts'

export interface Target<T extends Table> {
  config: DeploymentConfig
  /** The path of the address book. */
  book: string
  client: DeploymentClient
  rpcUrl: Secret
  values: Values<T>
}

export const FLAGS = {
  book: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const

const rpcUrl = {
  expected: 'the http or https URL of a node of the chain',
  read: (text: string) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? new Secret(text) : undefined,
}

const RPC_URL = required(rpcUrl, "the chain's JSON-RPC endpoint")

/** Reads the file and the variables, reports all that is wrong with them at once, and makes sure that the node serves the chain. */
export async function openTarget<T extends Table>(
  file: string | undefined,
  { book }: { book?: string | undefined },
  variables: T,
  env: Env,
): Promise<Target<T>> {
  const { values, problems } = readEnvironment({ RPC_URL, ...variables }, env)
  const config = readFile(file, problems, env)
  if (!values || !config || problems.length > 0) throw new ConfigError(problems)
  const { RPC_URL: url } = values as Values<{ RPC_URL: typeof RPC_URL }>
  return {
    config,
    book: book === undefined ? defaultBook(config.chainId) : pathOf(book, env),
    client: await connect(url.reveal(), config.chainId),
    rpcUrl: url,
    values: values as Values<T>,
  }
}

/** npm changes the directory: a path means what it meant where npm was called. */
const pathOf = (path: string, env: Env) => resolve(env.INIT_CWD ?? '.', path)

function readFile(file: string | undefined, problems: string[], env: Env): DeploymentConfig | undefined {
  if (file === undefined) {
    problems.push(
      'no deployment is named: add its file, like contracts/deployments/base-sepolia.example.json',
    )
    return undefined
  }
  try {
    return readDeploymentConfig(pathOf(file, env))
  } catch (error) {
    problems.push(`${file}: ${(error as Error).message}`)
    return undefined
  }
}

async function connect(url: string, chainId: number): Promise<DeploymentClient> {
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const client = createClient({ chain, transport: http(url) })
    .extend(publicActions)
    .extend(walletActions)
  const served = await client.getChainId().catch((error) => {
    throw new CommandFailed(`RPC_URL does not answer: ${reasonOf(error)}`)
  })
  if (served !== chainId)
    throw new CommandFailed(`RPC_URL serves chain ${served}, the config is for chain ${chainId}`)
  return client
}

/** Runs the work. What fails is told in one line without the endpoint's URL, which often holds a key. */
export async function orFail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CommandFailed ? error : new CommandFailed(reasonOf(error))
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.message : String(error)
  return error.details ? `${error.shortMessage} (${error.details})` : error.shortMessage
}
