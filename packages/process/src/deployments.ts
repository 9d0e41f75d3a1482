// Chains whose contracts are in the address books that a deployment wrote.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { at, Chain, type ChainConfig, CONTRACT_NAMES } from './chain-schema.ts'
import { type Env, readText } from './environment.ts'

const Book = z.looseObject({
  chainId: z.int().positive(),
  startBlock: z.unknown(),
  contracts: z.record(z.string(), z.unknown()),
})

/** Reads the files of DEPLOYMENTS with RPC_URLS_<chain id> and CHAIN_<chain id>. Adds what is wrong to `problems`. */
export function readDeployments(env: Env, problems: string[]): ChainConfig[] {
  // The table of variables reports what is wrong with the variable itself.
  const files = readText(env, 'DEPLOYMENTS', [])?.split(',') ?? []
  return files.flatMap((file) => readDeployment(env, file.trim(), problems) ?? [])
}

function readDeployment(env: Env, file: string, problems: string[]): ChainConfig | undefined {
  const book = readBook(file, problems)
  if (!book) return undefined
  const { chainId, startBlock } = book
  const [urlsName, settingsName] = [`RPC_URLS_${chainId}`, `CHAIN_${chainId}`]
  const urls = readText(env, urlsName, problems)
  const settings = readSettings(env, settingsName, problems)
  if (urls === undefined) {
    problems.push(`${urlsName}: not set; expected the URLs of nodes of chain ${chainId}, separated by commas`)
  }
  if (urls === undefined || settings === undefined) return undefined
  const contracts = Object.fromEntries(
    Object.entries(book.contracts).filter(([name]) => CONTRACT_NAMES.includes(name)),
  )
  const rpcUrls = urls.split(',').map((url) => url.trim())
  const { data, error } = Chain.safeParse({ startBlock, contracts, ...settings, chainId, rpcUrls })
  for (const { path, message } of error?.issues ?? []) {
    const [field] = path
    const isSetting = field === undefined || Object.hasOwn(settings, field)
    const place =
      field === 'rpcUrls'
        ? `${urlsName}${at(path.slice(1))}`
        : `${isSetting ? settingsName : `DEPLOYMENTS: ${file}`}${at(path)}`
    problems.push(`${place}: ${message}`)
  }
  return data
}

function readBook(file: string, problems: string[]): z.output<typeof Book> | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    problems.push(`DEPLOYMENTS: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
  const { data } = Book.safeParse(parsed(text))
  if (!data) problems.push(`DEPLOYMENTS: ${file} is no address book; name a file that the deployment wrote`)
  return data
}

/** The fields of a chain that no address book has. */
function readSettings(env: Env, name: string, problems: string[]): Record<string, unknown> | undefined {
  const text = readText(env, name, problems)
  if (text === undefined) return {}
  const { data } = z.record(z.string(), z.unknown()).safeParse(parsed(text))
  const taken = ['chainId', 'rpcUrls'].filter((field) => data && field in data)
  if (!data) problems.push(`${name}: expected a JSON object of further fields of the chain`)
  for (const field of taken)
    problems.push(`${name}.${field}: the address book and RPC_URLS say it; leave it out`)
  return taken.length > 0 ? undefined : data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
