// Both tool servers of a sandbox, by the official client, as the file tells programs that it writes for them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ToolServers } from '../src/tool-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: each tool has a shape of its own
type Answer = any

export interface Tools {
  /** The marketplace. Throws what the tool says when it refuses. */
  backend(name: string, args?: Record<string, unknown>): Promise<Answer>
  signer(name: string, args?: Record<string, unknown>): Promise<Answer>
  /** A call in two steps, signed in between. */
  signed(name: string, args: Record<string, unknown>, signWith: string): Promise<Answer>
  close(): Promise<void>
}

/** `directory` is where the sandbox has written its files. */
export async function connectTools(
  directory: string,
  signerName: 'referrer-signer' | 'referrer-signer-2' = 'referrer-signer',
): Promise<Tools> {
  const hosts: ToolServers = JSON.parse(readFileSync(join(directory, 'referrer-mcp.json'), 'utf8'))
  const { referrer, [signerName]: signer } = hosts.mcpServers
  if (!signer) throw new Error(`no ${signerName} here: start the sandbox with --chains 2`)
  const [market, keys] = await Promise.all([
    connect(new StreamableHTTPClientTransport(new URL(referrer.url))),
    connect(new StdioClientTransport({ command: signer.command, args: signer.args, env: signer.env })),
  ])
  return {
    backend: market.call,
    signer: keys.call,
    async signed(name, args, signWith) {
      const { commitment, nonce, expiry } = await market.call(name, args)
      const { signature } = await keys.call(signWith, { commitment })
      return market.call(name, { ...args, nonce, expiry, agent_sig: signature })
    },
    async close() {
      await Promise.all([market.close(), keys.close()])
    },
  }
}

async function connect(transport: Parameters<Client['connect']>[0]) {
  const client = new Client({ name: 'an agent', version: '1' })
  await client.connect(transport)
  async function call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    // Paying waits for the chain.
    const answer = await client.callTool({ name, arguments: args }, { timeout: 120_000 })
    const [block] = answer.content as { text: string }[]
    if (answer.isError) throw new Error(`${name}: ${block?.text}`)
    return answer.structuredContent
  }
  return { call, close: () => client.close() }
}
