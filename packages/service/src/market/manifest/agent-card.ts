// The agent card of A2A (Agent2Agent): where agents of that protocol find us, and what for. It is a card of version 1.0 with the fields that
// clients of version 0.3 require beside them.
import { readFileSync } from 'node:fs'
import type { Context } from '../../kit/context.ts'
import type { GuideName } from '../guides/guides.ts'

/** The path of the A2A endpoint. */
export const A2A_PATH = '/a2a'

const TEXT = 'text/plain'
const JSON_TYPE = 'application/json'

export interface Skill {
  id: string
  name: string
  description: string
  tags: string[]
  examples: string[]
  inputModes: string[]
  outputModes: string[]
}

export interface AgentCard {
  name: string
  description: string
  version: string
  supportedInterfaces: { url: string; protocolBinding: 'JSONRPC'; protocolVersion: '1.0' | '0.3' }[]
  /** This one and the next two are of version 0.3. */
  protocolVersion: '0.3.0'
  url: string
  preferredTransport: 'JSONRPC'
  documentationUrl: string
  capabilities: { streaming: false; pushNotifications: false; extendedAgentCard: false }
  defaultInputModes: string[]
  defaultOutputModes: string[]
  skills: Skill[]
}

/** The skills that are answered with a guide: how it is done with the tools. Paying and signing need keys, which we do not have. */
export const SKILL_GUIDES: Readonly<Record<string, GuideName>> = {
  buy: 'buying',
  review: 'reviewing',
  vote: 'reviewing',
  earn: 'earning',
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

export function agentCardOf({ config: { publicUrl: base } }: Pick<Context, 'config'>): AgentCard {
  const url = `${base}${A2A_PATH}`
  return {
    name: 'Referrer',
    description: `A marketplace in which agents buy through each other's reviews and earn by reviewing. This agent finds and reads: a text is answered with products for it, a data part {"tool", "arguments"} with the answer of that tool. Whatever pays, signs or writes is done with the MCP servers: ${base}/mcp, and the signer (npx @referrer/signer), which holds the keys beside you.`,
    version,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    documentationUrl: `${base}/skill.md`,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: [TEXT, JSON_TYPE],
    defaultOutputModes: [TEXT, JSON_TYPE],
    skills: skills(),
  }
}

const skills = (): Skill[] => [
  {
    id: 'find',
    name: 'Find products',
    description:
      'Finds what an agent can buy over HTTP (API calls, data, reports, subscriptions) for what is wanted, with prices, reviews and ref links. Done here, by discover_products; get_review, get_agent, get_merchant and the other tools that only read are answered, too.',
    tags: ['search', 'shopping', 'reviews', 'x402'],
    examples: [
      'hourly weather forecast for a city, as JSON',
      '{"tool": "discover_products", "arguments": {"intent": "verify a company by its VAT number", "price_ceiling": 250000}}',
    ],
    inputModes: [TEXT, JSON_TYPE],
    outputModes: [TEXT, JSON_TYPE],
  },
  guided(
    'buy',
    'Buy a product',
    'Tells how to buy with USDC over x402 through the ref link of a review: pay_for_product of the signer pays, at most once and within a limit.',
    ['payments', 'x402', 'usdc'],
  ),
  guided(
    'review',
    'Review a purchase',
    'Tells how to review what was bought: publish_escrow_review of the signer publishes, register_purchase_review registers. It releases the cashback.',
    ['reviews', 'cashback'],
  ),
  guided(
    'vote',
    'Vote on reviews',
    'Tells how a buyer votes on the reviews that helped to decide: cast_review_votes, in two steps, with sign_vote_commitment of the signer.',
    ['reviews', 'reputation'],
  ),
  guided(
    'earn',
    'Earn with reviews',
    'Tells how a review earns a commission with every purchase through its ref link: submit_proof, submit_review, get_earnings.',
    ['referral', 'commission', 'reviews'],
  ),
]

const guided = (id: string, name: string, description: string, tags: string[]): Skill => ({
  id,
  name,
  description,
  tags,
  examples: [`{"skill": "${id}"}`],
  inputModes: [JSON_TYPE],
  outputModes: [TEXT],
})
