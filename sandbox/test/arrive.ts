// How an agent comes to a market of which it knows the URL and a node: a key, money of the faucet, an identity, and a signer that holds the key.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askFaucet, readDeployment, registerIdentity } from '@referrer/client/chain'
import { createPublicClient, createWalletClient, http, type PublicClient } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'

const SIGNER = fileURLToPath(new URL('../../packages/signer/src/bin.ts', import.meta.url))

export interface Arrived {
  agentId: string
  /** How a host starts the signer. */
  signer: { command: string; args: string[]; env: Record<string, string> }
}

export async function arrive({ marketUrl, rpcUrl }: { marketUrl: string; rpcUrl: string }): Promise<Arrived> {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  const chain = { chain: hardhat, transport: http(rpcUrl) }
  const client = createPublicClient(chain) as PublicClient
  const { mcpUrl, chainId, contracts, faucetUrl } = await readDeployment(client, { marketUrl })
  await askFaucet(faucetUrl ?? '', account.address)
  const { agentId } = await registerIdentity(client, createWalletClient({ ...chain, account }), {
    identityRegistry: contracts.IdentityRegistry,
  })
  return {
    agentId: String(agentId),
    signer: {
      command: process.execPath,
      args: [SIGNER],
      env: {
        AGENT_KEYS: `${agentId}:${key}`,
        BASE_RPC_URL: rpcUrl,
        REFERRER_AGENT_MCP_URL: mcpUrl,
        CHAIN_ID: String(chainId),
        REVIEW_REGISTRY_ADDRESS: contracts.ReviewRegistry,
        COMMISSION_ESCROW_ADDRESS: contracts.CommissionEscrow,
        ALLOW_PRIVATE_HOSTS: 'true',
        SIGNER_STATE_DIR: mkdtempSync(join(tmpdir(), 'referrer-journey-')),
      },
    },
  }
}
