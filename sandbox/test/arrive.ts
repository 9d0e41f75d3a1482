// How an agent comes to a market of which it knows the URL and a node: a key, money of the faucet, an identity, and a signer that holds the key.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { askFaucet, readDeployment, registerIdentity } from '@referrer/client/chain'
import { createPublicClient, createWalletClient, http, type PublicClient } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'

const SIGNER = fileURLToPath(new URL('../../packages/signer/src/bin.ts', import.meta.url))

export interface Arrived {
  agentId: string
  /** A host with the signer and no other tools. Throws what a tool says when it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has a shape of its own
  call(name: string, args?: Record<string, unknown>): Promise<any>
  leave(): Promise<void>
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
  const host = await startHost({
    AGENT_KEYS: `${agentId}:${key}`,
    BASE_RPC_URL: rpcUrl,
    REFERRER_AGENT_MCP_URL: mcpUrl,
    CHAIN_ID: String(chainId),
    REVIEW_REGISTRY_ADDRESS: contracts.ReviewRegistry,
    COMMISSION_ESCROW_ADDRESS: contracts.CommissionEscrow,
  })
  return { agentId: String(agentId), ...host }
}

async function startHost(env: Record<string, string>): Promise<Omit<Arrived, 'agentId'>> {
  const stateDir = mkdtempSync(join(tmpdir(), 'referrer-journey-'))
  const host = new Client({ name: 'a host', version: '1' })
  await host.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [SIGNER],
      // The shop is on this machine.
      env: { ...env, ALLOW_PRIVATE_HOSTS: 'true', SIGNER_STATE_DIR: stateDir },
      stderr: 'ignore',
    }),
  )
  return {
    async call(name, args = {}) {
      const answer = await host.callTool({ name, arguments: args }, { timeout: 120_000 })
      const [block] = answer.content as { text: string }[]
      if (answer.isError) throw new Error(`${name}: ${block?.text}`)
      return answer.structuredContent
    },
    async leave() {
      await host.close()
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}
