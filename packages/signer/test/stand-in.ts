// In place of the marketplace: its manifest and those of its tools that the signer calls, with answers that a test chooses.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Commitment, VotesHash } from '@referrer/protocol'
import type { Address } from 'viem'
import { z } from 'zod'

type Answer = Record<string, unknown>
export type Fields = Record<string, unknown> & { agent_sig?: string }

export interface StandIn {
  /** Ends in /mcp. */
  url: string
  asked: { tool: string; input: Fields }[]
  /** What it answers, by tool; an error is a refusal with its message. */
  says: Record<string, (input: Fields) => Answer>
  close(): Promise<void>
}

export interface StandInOptions {
  chainId: number
  reviewRegistry: Address
  attestationPubKey?: string
}

const TOOLS = ['resolve_ref_link', 'get_pending_intents', 'cast_review_votes', 'get_escrow_terms']
const NONCE = `0x${'2a'.padStart(64, '0')}` as const

export async function startStandIn({
  chainId,
  reviewRegistry,
  attestationPubKey,
}: StandInOptions): Promise<StandIn> {
  const registry = { chainId, reviewRegistry }
  const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600
  const standIn: StandIn = {
    url: '',
    asked: [],
    says: {
      resolve_ref_link: () => ({ facilitator_url: null }),
      get_pending_intents: ({ agent_id, agent_sig }) =>
        agent_sig
          ? {
              status: 'ok',
              intents: [],
              remaining_budget: null,
              per_tx_cap_usdc: null,
              budget_enforced: false,
            }
          : Commitment.envelope(
              Commitment.from('IntentAccessCommitment', {
                ...registry,
                message: { agentId: Number(agent_id), nonce: NONCE, expiry: inAnHour() },
              }),
            ),
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
    close: async () => {},
  }

  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'stand-in', version: '1' })
    for (const tool of TOOLS) {
      server.registerTool(tool, { inputSchema: z.looseObject({}) }, async (input) => {
        standIn.asked.push({ tool, input })
        const structuredContent = standIn.says[tool]?.(input) ?? {}
        return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
      })
    }
    return server
  })
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.url === '/.well-known/referrer-agent') {
      return void outgoing.end(JSON.stringify({ chains: [{ chainId, attestationPubKey }] }))
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
