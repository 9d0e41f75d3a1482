// Both tool servers of a sandbox, in a file beside its state, in the format that MCP hosts read.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type SandboxState, writeJson } from './state.ts'

const SIGNER = fileURLToPath(new URL('../../packages/signer/src/bin.ts', import.meta.url))

/** `path` is where the state is. */
export const hostsPath = (path: string): string => join(dirname(path), 'referrer-mcp.json')

/** What the signer remembers of this sandbox's purchases. */
const signerDirectory = (path: string): string => join(dirname(path), 'referrer-signer')

export type ToolServers = ReturnType<typeof toolServers>

export function writeToolServers(path: string, state: SandboxState): void {
  writeJson(hostsPath(path), toolServers(state, signerDirectory(path)))
}

/** With the sandbox its chain is gone: nothing that was bought there counts any more. */
export function removeToolServers(path: string): void {
  for (const gone of [hostsPath(path), signerDirectory(path)]) rmSync(gone, { force: true, recursive: true })
}

/** The agents of the roles: enough to try everything with, and few enough to read. */
const AGENTS = 3

function toolServers(state: SandboxState, stateDir: string) {
  const { mcpUrl, secondChain } = state
  return {
    mcpServers: {
      referrer: { type: 'http', url: mcpUrl },
      'referrer-signer': signer(mcpUrl, state, stateDir),
      // A signer pays on one chain: that of its node.
      ...(secondChain && { 'referrer-signer-2': signer(mcpUrl, secondChain, join(stateDir, '2')) }),
    },
  }
}

function signer(
  mcpUrl: string,
  { rpcUrl, accounts }: Pick<SandboxState, 'rpcUrl' | 'accounts'>,
  stateDir: string,
) {
  const agents = accounts.filter(({ agentId }) => agentId !== undefined).slice(0, AGENTS)
  const wallet = accounts.find(({ role }) => role === 'walletBuyer')
  return {
    type: 'stdio',
    command: process.execPath,
    args: [SIGNER],
    env: {
      AGENT_KEYS: agents.map(({ agentId, privateKey }) => `${agentId}:${privateKey}`).join(','),
      ...(wallet && { AGENT_PRIVATE_KEY: wallet.privateKey }),
      BASE_RPC_URL: rpcUrl,
      REFERRER_AGENT_MCP_URL: mcpUrl,
      // The shop is on this machine.
      ALLOW_PRIVATE_HOSTS: 'true',
      SIGNER_STATE_DIR: stateDir,
    },
  }
}
