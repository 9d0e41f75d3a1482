import { fileURLToPath } from 'node:url'
import type { SandboxState } from './state.ts'

const SIGNER = fileURLToPath(new URL('../../packages/signer/src/bin.ts', import.meta.url))

/** As programs that use tools want to be told of them. The signer holds the keys of all who have an agent. */
export function toolServers(state: SandboxState, signerDirectory: string) {
  const { mcpUrl, rpcUrl, chainId, contracts, accounts } = state
  const agents = accounts.filter(({ agentId }) => agentId !== undefined)
  const wallet = accounts.find(({ role }) => role === 'walletBuyer')
  return {
    mcpServers: {
      referrer: { type: 'http', url: mcpUrl },
      'referrer-signer': {
        type: 'stdio',
        command: process.execPath,
        args: [SIGNER],
        env: {
          AGENT_KEYS: agents.map(({ agentId, privateKey }) => `${agentId}:${privateKey}`).join(','),
          ...(wallet && { AGENT_PRIVATE_KEY: wallet.privateKey }),
          BASE_RPC_URL: rpcUrl,
          CHAIN_ID: String(chainId),
          REVIEW_REGISTRY_ADDRESS: contracts.ReviewRegistry,
          COMMISSION_ESCROW_ADDRESS: contracts.CommissionEscrow,
          REFERRER_AGENT_MCP_URL: mcpUrl,
          // The shop is on this machine.
          ALLOW_PRIVATE_HOSTS: 'true',
          SIGNER_STATE_DIR: signerDirectory,
        },
      },
    },
  }
}
