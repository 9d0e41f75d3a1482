// In place of the marketplace: its manifest and those of its tools that the signer calls, with answers that a test chooses.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Commitment, RequestSignature, VotesHash } from '@referrer/protocol'
import type { Address } from 'viem'
import { z } from 'zod'

type Answer = Record<string, unknown>
export type Fields = Record<string, unknown> & { agent_sig?: string }

export interface StandIn {
  /** Ends in /mcp. */
  url: string
  asked: { tool: string; input: Fields }[]
  /** What it answers, by tool; an error is a refusal with its message. */
  says: Record<string, (input: Fields) => Answer | Promise<Answer>>
  /** What the caps of a wallet leave; an error is one of the marketplace. */
  budgetOf(owner: Address): Answer | Promise<Answer>
  /** Whether the products of all links have closed. */
  isClosed: boolean
  close(): Promise<void>
}

export interface StandInOptions {
  chainId: number
  reviewRegistry: Address
  /** The current one, then the one before. */
  attestationPubKeys?: string[]
}

const TOOLS = [
  'resolve_ref_link',
  'cast_review_votes',
  'get_escrow_terms',
  'get_review_rank',
  'check_review_content',
]
export const NO_CAPS = {
  per_tx_cap_usdc: null,
  remaining_budget: null,
  budget_enforced: false,
  as_of_block: 0,
}
const NONCE = `0x${'2a'.padStart(64, '0')}` as const

export async function startStandIn({
  chainId,
  reviewRegistry,
  attestationPubKeys = [],
}: StandInOptions): Promise<StandIn> {
  const registry = { chainId, reviewRegistry }
  const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600
  const standIn: StandIn = {
    url: '',
    asked: [],
    says: {
      resolve_ref_link: () => ({ facilitator_url: null }),
      check_review_content: () => ({ valid: true }),
      cast_review_votes: ({ agent_id, escrow_id, votes, agent_sig }) => {
        const given = (votes as { review_id: number; reasoning: string }[]).map(
          ({ review_id, reasoning }) => ({
            reviewId: review_id,
            reasoning,
          }),
        )
        if (agent_sig) return { status: 'ok', votes_recorded: given.length }
        const message = {
          agentId: Number(agent_id),
          escrowId: Number(escrow_id),
          votesHash: VotesHash.votesHash(given),
          nonce: NONCE,
          expiry: inAnHour(),
        }
        return Commitment.envelope(Commitment.from('VoteCommitment', { ...registry, message }))
      },
    },
    budgetOf: () => NO_CAPS,
    isClosed: false,
    close: async () => {},
  }

  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'stand-in', version: '1' })
    for (const tool of TOOLS) {
      server.registerTool(tool, { inputSchema: z.looseObject({}) }, async (input) => {
        standIn.asked.push({ tool, input })
        const structuredContent = (await standIn.says[tool]?.(input)) ?? {}
        return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
      })
    }
    return server
  })
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.url === '/.well-known/referrer-agent') {
      const [attestationPubKey] = attestationPubKeys
      return void outgoing.end(
        JSON.stringify({ chains: [{ chainId, attestationPubKey, attestationPubKeys }] }),
      )
    }
    if (incoming.url === `/v1/spending-limits/budget?chain_id=${chainId}`) {
      try {
        const signed = RequestSignature.parse(new Headers(incoming.headers as Record<string, string>))
        const owner = await RequestSignature.verify({ ...signed, body: '' }, Date.now() / 1_000)
        return void outgoing.end(JSON.stringify({ chain_id: chainId, ...(await standIn.budgetOf(owner)) }))
      } catch {
        return void outgoing.writeHead(500).end('{"error":"get failed"}')
      }
    }
    if (standIn.isClosed && incoming.url?.startsWith('/r/')) {
      return void outgoing.writeHead(404).end('{"error":"not found"}')
    }
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = 'GET', url = '/' } = incoming
    const response = await handler.fetch(
      new Request(`http://${incoming.headers.host}${url}`, {
        method,
        headers: incoming.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  standIn.close = async () => {
    await handler.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return standIn
}
