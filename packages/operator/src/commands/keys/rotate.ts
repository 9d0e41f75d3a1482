import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Config as FacilitatorConfig,
  readConfig as readFacilitator,
  readManifestKeys,
} from '@referrer/facilitator'
import {
  ConfigError,
  createLog,
  type Env,
  openConfigured,
  optional,
  Read,
  readEnvironment,
} from '@referrer/process'
import { readConfig as readService, type Config as ServiceConfig } from '@referrer/service'
import { type Address, getAddress, isAddress, isAddressEqual } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { type Command, CommandFailed, type Surroundings } from '../../command.ts'
import { keyInFile } from './new-key.ts'
import type { Job } from './roles.ts'
import { rotateAccount } from './rotate-account.ts'
import { rotateAttestation } from './rotate-attestation.ts'

const VARIABLES = {
  ADMIN_PRIVATE_KEY: optional(Read.privateKey, "the key of the contracts' admin"),
}
const KINDS = ['attestation', 'oracle', 'publisher', 'relayer'] as const
const FLAGS = {
  'new-key': { type: 'string' },
  to: { type: 'string' },
  from: { type: 'string' },
  chain: { type: 'string' },
  wait: { type: 'string', default: '600' },
  'dry-run': { type: 'boolean', default: false },
} as const
/** The exit status while something is left to do. */
const UNFINISHED = 2

export const rotate: Command = {
  name: 'keys rotate',
  summary: 'replaces a key of the market, step by step',
  help: () => `Replaces a key without losing or repeating a transaction. Run it again until it says "done": every run looks at what is so and
goes on from there. It ends with status 2 while something is left for you to do.

Usage: referrer keys rotate <${KINDS.join('|')}> [options]

  --new-key <file>  the new key; if there is no such file, a key is made and written to it, readable by you alone
  --to <address>    instead: the new account, whose key a remote signer has
  --from <address>  the account to be replaced (default: the configured one)
  --chain <id>      attestation: the chain whose ref links it is about (default: the first)
  --wait <seconds>  how long to wait for restarts, and for what the old account has left to send (default 600)
  --dry-run         print what is left to do; make, send and wait for nothing

It reads the configuration of the service, for relayer that of the facilitator. No private key is ever printed.

Environment:
  ADMIN_PRIVATE_KEY  grants and revokes roles; left out: both are printed with their calldata, for a multisig or a timelock
`,
  async run(args, surroundings) {
    const { values: flags, positionals } = parseArgs({ args, allowPositionals: true, options: FLAGS })
    const kind = KINDS.find((each) => each === positionals[0])
    if (!kind || positionals.length > 1) {
      throw new CommandFailed(`name one of ${KINDS.join(', ')}: referrer keys rotate <key>`)
    }
    const waitMs = Number(flags.wait) * 1_000
    if (!(waitMs >= 0)) throw new CommandFailed('--wait: expected a number of seconds')
    const given = { ...flags, isDryRun: flags['dry-run'], waitMs }
    const isDone =
      kind === 'attestation'
        ? await runAttestation(given, surroundings)
        : await runAccount(kind, given, surroundings)
    return isDone ? 0 : UNFINISHED
  },
}

interface Given {
  'new-key'?: string | undefined
  to?: string | undefined
  from?: string | undefined
  chain?: string | undefined
  isDryRun: boolean
  waitMs: number
}

async function runAccount(job: Job, given: Given, { env, print }: Surroundings): Promise<boolean> {
  const { values, problems } = readEnvironment(VARIABLES, env)
  if (!values) throw new ConfigError(problems)
  const config = job === 'relayer' ? readFacilitator(env) : readService(env)
  const to = newAccount(given, env, print)
  if (!to) return false
  const from = oldAccount(job, config, given.from, to)
  return withDatabase(config, (sql) =>
    rotateAccount({
      ...given,
      job,
      from,
      to,
      chains: config.chains,
      sql,
      adminKey: values.ADMIN_PRIVATE_KEY,
      print,
    }),
  )
}

/** Undefined: a dry run that would make the key. */
function newAccount(
  { to, isDryRun, ...given }: Given,
  env: Env,
  print: (text: string) => void,
): Address | undefined {
  if (to !== undefined) {
    if (given['new-key'] !== undefined) throw new CommandFailed('--to, --new-key: name one of them')
    return addressIn('--to', to)
  }
  const file = fileOf(given, env)
  if (file === undefined) throw new CommandFailed('name the new key: --new-key <file>, or --to <address>')
  const found = keyInFile(file, isDryRun)
  if (!found) {
    print(`! a new key would be made and written to ${file}\n`)
    return undefined
  }
  if (found.isMade) print(`✓ a new key is in ${file}\n`)
  return privateKeyToAddress(found.key)
}

/** npm changes the directory: a path means what it meant where npm was called. */
const fileOf = ({ 'new-key': file }: Pick<Given, 'new-key'>, env: Env) =>
  file === undefined ? undefined : resolve(env.INIT_CWD ?? '.', file)

function oldAccount(
  job: Job,
  config: ServiceConfig | FacilitatorConfig,
  from: string | undefined,
  to: Address,
): Address {
  if (from !== undefined) return addressIn('--from', from)
  const own = 'relayers' in config ? config.relayers : job === 'relayer' ? [] : [config[job]]
  const known = [...own, ...config.keys.retiring].flatMap((account) => account?.address ?? [])
  const others = known.filter((address) => !isAddressEqual(address, to))
  const [only, ...more] = others
  if (only && more.length === 0) return only
  throw new CommandFailed(
    `--from: ${only ? `${others.join(', ')} are configured; say which one` : 'no other account is configured; name the one'} to replace`,
  )
}

function addressIn(flag: string, text: string): Address {
  if (isAddress(text)) return getAddress(text)
  throw new CommandFailed(`${flag}: expected ${Read.address.expected}`)
}

async function runAttestation(given: Given, { env, print }: Surroundings): Promise<boolean> {
  const config = readService(env)
  const chainId = given.chain === undefined ? config.chains[0].chainId : Number(given.chain)
  if (config.chains.every((chain) => chain.chainId !== chainId)) {
    throw new CommandFailed(`--chain: chain ${given.chain} is not configured`)
  }
  const file = fileOf(given, env)
  const found = file === undefined ? undefined : keyInFile(file, given.isDryRun)
  if (found?.isMade) print(`✓ a new seed is in ${file}\n`)
  const { publicUrl } = config
  return withDatabase(config, (sql) =>
    rotateAttestation({
      ...given,
      chainId,
      made: found && file !== undefined ? { seed: found.key, file } : undefined,
      transitKey: config.attestation.get(chainId)?.transitKey,
      sql,
      print,
      async told() {
        const keys = await readManifestKeys(fetch, publicUrl).catch((error: Error) => {
          throw new CommandFailed(
            `PUBLIC_URL: ${publicUrl} does not tell its keys (${error.message}); the market has to run`,
          )
        })
        return keys.get(chainId) ?? []
      },
    }),
  )
}

async function withDatabase<T>(
  config: Parameters<typeof openConfigured>[0],
  work: (sql: Awaited<ReturnType<typeof openConfigured>>['sql']) => Promise<T>,
): Promise<T> {
  const log = createLog('silent')
  const database = await openConfigured(config, { name: 'referrer keys', max: 2, log })
  try {
    return await work(database.sql)
  } finally {
    await database.close()
  }
}
