// Calls the tools over real HTTP, with the official client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestMarket } from '../http/market.ts'

export type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

export interface ToolAnswer {
  isError: boolean
  /** The text for a model: JSON, or an error message. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  structured: any
}

export interface McpCaller {
  client: Client
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  close(): Promise<void>
}

export const connectMcp = (market: Pick<TestMarket, 'service'>) => connectTo(`${market.service.url}/mcp`)

export async function connectTo(url: string): Promise<McpCaller> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return {
    client,
    async call(name, args = {}) {
      const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args })
      const [block] = content as { type: string; text: string }[]
      return { isError, text: block?.text ?? '', structured: structuredContent }
    },
    close: () => client.close(),
  }
}

/** All that the server says of a tool, with its whole schemas. */
export async function explainedBy(client: Client, name: string): Promise<ListedTool> {
  const { contents } = await client.readResource({ uri: `referrer://tools/${name}` })
  return JSON.parse((contents[0] as { text: string }).text)
}
