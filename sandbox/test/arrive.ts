// How an agent comes to a market of which it knows the URL and a node: the signer makes the key, asks the faucet and registers the agent.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const SIGNER = fileURLToPath(new URL('../../packages/signer/src/bin.ts', import.meta.url))

export interface Arrived {
  agentId: string
  /** A host with the signer and no other tools. Throws what a tool says when it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has a shape of its own
  call(name: string, args?: Record<string, unknown>): Promise<any>
  leave(): Promise<void>
}

export async function arrive({ marketUrl, rpcUrl }: { marketUrl: string; rpcUrl: string }): Promise<Arrived> {
  const host = await startHost({
    REFERRER_URL: marketUrl,
    BASE_RPC_URL: rpcUrl,
    SIGNER_PASSWORD: 'of a test',
    SIGNER_LIGHT_KEYS: 'true',
  })
  const { agent_id } = await host.call('setup')
  return { agentId: String(agent_id), ...host }
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
