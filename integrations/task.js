// What all four examples share: the two tool servers, and what the agent is asked to do.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const sandbox = fileURLToPath(new URL('../.sandbox/referrer-mcp.json', import.meta.url))

const path = process.env.REFERRER_MCP ?? sandbox
if (!existsSync(path)) {
  console.error(`${path} is not there: start a sandbox with npm start, or name its file with REFERRER_MCP`)
  process.exit(1)
}

/** As MCP hosts read it; `npm start` writes one. `market` finds and remembers, `signer` holds the keys and pays. */
const { mcpServers } = JSON.parse(readFileSync(path, 'utf8'))
export const market = mcpServers.referrer
export const signer = mcpServers['referrer-signer']

/** How long a tool may take. Paying waits for the shop and the chain: longer than some frameworks wait unless they are told. */
export const patienceMs = 120_000

export const model = process.env.MODEL ?? 'gpt-5-mini'
export const instructions =
  'You buy for your owner. Find products with discover_products, read their reviews, and pay with pay_for_product through the ref_link of a review that helped you. Never pay more than you were told. Name each purchase by an idempotency_key: if a payment gives no answer, ask again with the same key, and it is not paid twice.'
export const task =
  process.argv[2] ??
  'Find out when the sun sets in Tokyo today. Pay at most 0.05 USDC, and tell me what it cost.'
