// `referrer-signer setup`: the same steps as the tool, for a person. Only here a key can be imported: none goes through a model.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { KeystoreError, readKeystore } from '@referrer/client/keystore'
import type { Hex } from 'viem'
import { type Config, ConfigError, passwordIn, readConfig } from '../config.ts'
import { createContext, type Overrides } from '../context.ts'
import { readPrivateKey } from '../keys.ts'
import { explain, isExpected, Refused } from '../refused.ts'
import { askHidden, isInteractive } from './prompt.ts'
import { setUp } from './setup.ts'
import type { Step } from './steps.ts'

const USAGE = `Makes an agent from nothing: a key in an encrypted file, money, an identity on the chain, a profile at the marketplace. Call it again to go on:
nothing is made twice.

Usage: REFERRER_URL=<marketplace> BASE_RPC_URL=<node> npx @referrer/signer setup [options]

  --import <file>    keep this key in the key store, instead of a new one: a private key as hex, or a keystore (Web3 secret storage);
                     - reads the private key from stdin
  --cashback <bps>   the share of its commissions that the agent gives to buyers, in basis points
  --agents           show the keys and their agents, and do nothing else
  --json             print one JSON document
  --help

The password comes from SIGNER_PASSWORD or SIGNER_PASSWORD_FILE, or is asked for. Ends with 0 when every step is done, with 1 when one waits.
The environment is that of the signer: npx @referrer/signer --help.
`

/** Returns the exit code. */
export async function run(args: string[], overrides: Overrides = {}): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      import: { type: 'string' },
      cashback: { type: 'string' },
      agents: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const cashbackBps = values.cashback === undefined ? undefined : readBps(values.cashback)
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  try {
    if (values.agents) {
      const shown = agentsOf(readConfig(process.env))
      if (values.json) print(JSON.stringify(shown))
      else for (const line of shown.map(lineOf)) print(line)
      return 0
    }
    const env = await withPassword(process.env)
    const imported = values.import === undefined ? undefined : await readImport(values.import, env)
    const context = createContext(readConfig(env), overrides)
    const onStep = ({ step, state, about }: Step) => print(`${step.padEnd(9)} ${state.padEnd(8)} ${about}`)
    const report = await setUp(context, { cashbackBps, imported }, values.json ? undefined : onStep)
    if (values.json) print(JSON.stringify(report))
    else if (report.agentId !== null) print(hostNote(report.agentId))
    return report.steps.some(({ state }) => state === 'waiting') ? 1 : 0
  } catch (error) {
    if (!isExpected(error)) throw error
    print(values.json ? JSON.stringify({ error: explain(error) }) : explain(error))
    return 1
  }
}

const hostNote = (agentId: string) =>
  `\nAgent ${agentId} is ready. Give the signer of your MCP host the same REFERRER_URL and BASE_RPC_URL, and the password as SIGNER_PASSWORD or SIGNER_PASSWORD_FILE.`

interface Shown {
  address: string
  agents: { chain_id: number; agent_id: string }[]
}

function agentsOf({ store }: Config): Shown[] {
  const agents = store.agents()
  return store.accounts().map(({ address }) => ({
    address,
    agents: agents
      .filter((agent) => agent.address.toLowerCase() === address.toLowerCase())
      .map(({ chainId, agentId }) => ({ chain_id: chainId, agent_id: agentId })),
  }))
}

const lineOf = ({ address, agents }: Shown) =>
  `${address}  ${agents.map(({ chain_id, agent_id }) => `agent ${agent_id} on chain ${chain_id}`).join(', ') || 'no agent yet'}`

type Env = NodeJS.ProcessEnv

/** The environment with the password of the key store, which a person is asked for when it is not there. */
async function withPassword(env: Env): Promise<Env> {
  if (passwordIn(env) !== undefined || !isInteractive()) return env
  const isNew = readConfig(env).store.accounts().length === 0
  const password = await askHidden(isNew ? 'A new password for your keys: ' : 'The password of your keys: ')
  if (password === '') throw new Refused('no password was given')
  if (isNew && (await askHidden('Once more: ')) !== password)
    throw new Refused('these are two different passwords')
  return { ...env, SIGNER_PASSWORD: password }
}

async function readImport(source: string, env: Env): Promise<Hex> {
  // It is not repeated in the answer, which may be written to a log.
  if (readPrivateKey(source.trim())) {
    throw new Refused(
      '--import: give a file, or - for stdin, not the key itself: it is now in the history of your shell',
    )
  }
  const isStdin = source === '-'
  const given = isStdin
    ? await (isInteractive() ? askHidden('The private key: ') : text(process.stdin))
    : await readFile(source, 'utf8').catch(() => {
        throw new Refused(`--import: ${source} cannot be read`)
      })
  if (!isStdin && given.trimStart().startsWith('{')) return readForeignKeystore(source, env)
  const privateKey = readPrivateKey(given.trim())
  if (!privateKey)
    throw new Refused('--import: expected a private key of secp256k1 (64 hex digits), or a keystore')
  return privateKey
}

/** Its password may be another one than that of the key store. */
async function readForeignKeystore(path: string, env: Env): Promise<Hex> {
  const password = isInteractive() ? await askHidden(`The password of ${path}: `) : (passwordIn(env) ?? '')
  return readKeystore(path, password).catch((error: unknown) => {
    throw error instanceof KeystoreError ? new Refused(`--import: ${error.message}`) : error
  })
}

function readBps(given: string): number {
  if (!/^\d{1,5}$/.test(given)) throw new ConfigError(['--cashback: expected basis points, such as 500'])
  return Number(given)
}
