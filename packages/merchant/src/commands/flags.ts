// What all commands take, and how they find the shop.
import { parseArgs } from 'node:util'
import { password as ask, isCancel } from '@clack/prompts'
import {
  connectShop,
  placeOf,
  type Reporter,
  readOwner,
  readProject,
  type Shop,
  ShopError,
} from '../shop/index.ts'

const COMMON = {
  network: { type: 'string' },
  market: { type: 'string' },
  rpc: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export const COMMON_HELP = `  --network <name>       sandbox (default), sandbox-2, base-sepolia, base, or the id of another chain
  --market <url>         the market; the sandbox's is known
  --rpc <url>            a node of the chain
  --key <file>           the owner's key, an encrypted keystore file
  --json                 print the result as JSON
  --help                 print this

Flags that are left out are taken from referrer.json of this folder.

Environment:
  REFERRER_URL           the market, and REFERRER_RPC_URL a node, where neither a flag nor referrer.json names them
  REFERRER_PASSWORD      the password of the keystore file; else it is asked for
  MERCHANT_PRIVATE_KEY   the owner's key itself, where there is no --key`

export type Options = Record<string, { type: 'string' | 'boolean' }>
export type Values = Record<string, string | boolean | undefined>

/** The command is wrong: its help says what is right. */
export class UsageError extends Error {}

export function parseFlags(args: string[], options: Options): Values {
  try {
    return parseArgs({ args, options: { ...options, ...COMMON }, strict: true }).values as Values
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('. ', 1)
    throw new UsageError(line)
  }
}

export const text = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** The value as its parser reads it; undefined when the flag was left out. */
export function parsed<T>(values: Values, name: string, parse: (value: string) => T): T | undefined {
  const value = text(values, name)
  return value === undefined ? undefined : parse(value)
}

export interface Surroundings {
  directory: string
  env: NodeJS.ProcessEnv
  /** Whether somebody sits there and can be asked. */
  isInteractive: boolean
}

export async function shopOf(
  values: Values,
  { directory, env, isInteractive }: Surroundings,
  reporter: Reporter,
): Promise<Shop> {
  const project = readProject(directory)
  const place = placeOf(project, {
    network: text(values, 'network'),
    market: text(values, 'market') ?? project.data.market ?? env.REFERRER_URL,
    rpc: text(values, 'rpc') ?? project.data.rpc ?? env.REFERRER_RPC_URL,
  })
  const given = text(values, 'key')
  // A key in the environment is meant for this call, the one of the file for all.
  const key = given ?? (env.MERCHANT_PRIVATE_KEY ? undefined : project.data.key)
  const owner = await readOwner({
    key,
    directory,
    env,
    isSandbox: place.network.isSandbox === true,
    askPassword: isInteractive ? askPassword : undefined,
  })
  const shop = await connectShop(place, { directory, owner, reporter })
  if (given !== undefined) shop.project.save({ key: given })
  return shop
}

async function askPassword(path: string): Promise<string> {
  const answer = await ask({ message: `Password of ${path}` })
  if (isCancel(answer)) throw new ShopError('nothing was done')
  return answer
}
