import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Addresses } from '@referrer/contracts/deploy'
import type { AccountRole } from '@referrer/contracts/local'
import type { Address, Hex } from 'viem'
import { readOffset } from './ports.ts'

/** What runs and who is who: written when the sandbox is up, for scripts and tools. */
export interface SandboxState {
  /** The service. */
  baseUrl: string
  /** Its tools. */
  mcpUrl: string
  facilitatorUrl: string
  shopUrl: string
  /** The page on which one talks to the bot. */
  chatUrl: string
  /** Gives gas and USDC. */
  faucetUrl: string
  rpcUrl: string
  chainId: number
  contracts: Addresses
  /** The key that ref links are checked with. */
  attestationPubKey: string
  accounts: SandboxAccount[]
  /** What the demo shop sells. */
  products: SandboxProduct[]
  /** With `--chains 2`. The same accounts have identities of their own there. */
  secondChain?: SandboxChain
}

/** What differs from chain to chain. */
export type SandboxChain = Pick<
  SandboxState,
  'chainId' | 'rpcUrl' | 'shopUrl' | 'contracts' | 'attestationPubKey' | 'accounts' | 'products'
>

export interface SandboxProduct {
  merchantId: number
  productId: Hex
  endpointUrl: string
}

export interface SandboxAccount {
  role: AccountRole
  address: Address
  privateKey: Hex
  agentId?: number
  merchantId?: number
}

const DEFAULT_DIRECTORY = fileURLToPath(new URL('../../.sandbox', import.meta.url))

/** Sandboxes side by side have ports of their own, and so each has a directory of its own. */
export function statePath(env: NodeJS.ProcessEnv): string {
  const offset = readOffset(env)
  const directory = env.SANDBOX_DIR ?? (offset === 0 ? DEFAULT_DIRECTORY : `${DEFAULT_DIRECTORY}-${offset}`)
  return join(directory, 'state.json')
}

/** How to run an example on the sandbox of this environment. */
export function exampleCommand(name: string, env: NodeJS.ProcessEnv): string {
  const offset = readOffset(env)
  const which = env.SANDBOX_DIR ? `SANDBOX_DIR='${env.SANDBOX_DIR}' ` : offset ? `PORT_OFFSET=${offset} ` : ''
  return `${which}node scripts/run.mjs sandbox/examples/${name}.ts`
}

/** The state that a sandbox left or keeps here; undefined where there is none. */
export function readState(path: string): SandboxState | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read (${error instanceof Error ? error.message : error}): remove it`)
  }
}

export async function isRunning({ baseUrl }: SandboxState): Promise<boolean> {
  return fetch(`${baseUrl}/healthz`).then(
    () => true,
    () => false,
  )
}

/** Fails with one line when a running sandbox keeps its state here: starting would remove it. */
export async function requireOwnDirectory(path: string): Promise<void> {
  const state = readState(path)
  if (!state || !(await isRunning(state))) return
  throw new Error(
    `the sandbox at ${state.baseUrl} keeps its state in ${dirname(path)}: stop it, or name another directory with SANDBOX_DIR`,
  )
}

/**
 * One for each sandbox, gone with it. Not beside the state file: the server, which never runs as root, can reach it here wherever the
 * project lies.
 */
export function databaseDirectory(path: string, port: number): string {
  const sandbox = createHash('sha256')
    .update(`${resolve(path)} ${port}`)
    .digest('hex')
  return join(tmpdir(), `referrer-sandbox-${sandbox.slice(0, 12)}`)
}

export function writeState(path: string, state: SandboxState): void {
  mkdirSync(dirname(path), { recursive: true })
  writeJson(path, state)
}

/** By a rename: nobody reads half a file. */
export function writeJson(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}

/** Nobody should find the state of a sandbox that has ended. */
export function removeState(path: string): void {
  rmSync(path, { force: true })
}
