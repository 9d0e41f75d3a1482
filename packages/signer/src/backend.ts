// Calls the MCP tools of the marketplace, for data that only it has.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { need } from './config.ts'
import type { Context } from './context.ts'
import { within } from './fetch-within.ts'
import { Refused } from './refused.ts'

const RETRY_MS = 500

/** The marketplace answered with an error. */
export class BackendRefused extends Refused {}

export type Ask = (tool: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>

/** Opens one MCP session with the marketplace and closes it after the work. */
export async function withBackend<T>(context: Context, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { REFERRER_AGENT_MCP_URL: url } = need(context.config, 'REFERRER_AGENT_MCP_URL')
  const timeout = context.timeouts.answer
  const client = new Client({ name: 'referrer-signer', version: '0.1.0' })
  try {
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: within(timeout) })
    await client.connect(transport, { timeout }).catch(unreachable)
    return await work(async (name, input) => {
      const result = await client.callTool({ name, arguments: input }, { timeout }).catch(unreachable)
      const [first] = result.content
      const text = first?.type === 'text' ? first.text : ''
      if (result.isError) throw new BackendRefused(text.slice(0, 500))
      return (result.structuredContent ?? {}) as Record<string, unknown>
    })
  } finally {
    await client.close().catch(() => {})
  }
}

/** Retries while the marketplace answers that it has not indexed the event yet. */
export async function retried<T>(
  { timeouts, now }: Context,
  pattern: RegExp,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = now() + timeouts.indexed
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isEarly = error instanceof BackendRefused && pattern.test(error.message)
      if (!isEarly || now() + RETRY_MS > deadline) throw error
      await sleep(RETRY_MS)
    }
  }
}

function unreachable(): never {
  throw new Refused('the marketplace at REFERRER_AGENT_MCP_URL does not answer; try again later')
}
