// What an owner and a runner do: queues a purchase for the buyer's agent, and runs the agent once. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/run.ts [<options of the runner>]
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { callerOf } from '../src/caller.ts'
import { accountOf } from '../src/program.ts'
import type { ToolServers } from '../src/tool-servers.ts'
import type { Review } from './answers.ts'
import { fail, runningSandbox } from './running.ts'
import { connectTools } from './tools.ts'
import { waitFor } from './wait.ts'

const { state, directory } = await runningSandbox()
const { agentId, privateKey } = accountOf(state, 'buyer')

const tools = await connectTools(directory)
const intent = 'daylight of a whole year in one file'
const { products } = await waitFor(
  'a product with a price and reviews',
  () => tools.backend('discover_products', { intent, max_products: 1 }),
  ({ products: [first] }) => first?.price_usdc !== undefined && first.reviews !== null,
)
const [{ merchant_id, product_id, price_usdc }] = products
const { reviews } = await tools.backend('list_reviews', { merchant_id, product_id })
await tools.close()
// Nobody buys through a link of their own.
const chosen = reviews.find(
  ({ agent_id, ref_link }: Review) => agent_id !== Number(agentId) && ref_link !== undefined,
)
if (!chosen) fail('all reviews of it are your own')

await callerOf(state.baseUrl).post(privateKeyToAccount(privateKey), '/v1/intents', {
  chain_id: state.chainId,
  agent_id: Number(agentId),
  type: 'buy_product',
  payload: {
    ref_link: chosen.ref_link,
    max_amount: String(price_usdc),
    idempotency_key: randomUUID(),
    review: process.argv.some((word) => word.startsWith('--review-')),
  },
})

// The environment of the signer, as the file for MCP hosts has it.
const hosts: ToolServers = JSON.parse(readFileSync(join(directory, 'referrer-mcp.json'), 'utf8'))
const { command, args, env } = hosts.mcpServers['referrer-signer']
const options = ['run', '--agent', String(agentId), '--once', ...process.argv.slice(2)]
spawn(command, [...args, ...options], { env: { ...process.env, ...env }, stdio: 'inherit' }).on(
  'close',
  (code) => {
    process.exitCode = code ?? 1
  },
)
