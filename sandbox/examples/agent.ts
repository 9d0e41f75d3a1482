// What an agent does with the two tool servers: finds, buys, votes, reviews, gets its cashback. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/agent.ts [<what you want>] [<query for the shop>]
import { Money } from '@referrer/protocol'
import { accountOf } from '../src/program.ts'
import type { Review } from './answers.ts'
import { fail, runningSandbox } from './running.ts'
import { connectTools } from './tools.ts'
import { waitFor } from './wait.ts'

const { state, directory } = await runningSandbox()
const { agentId } = accountOf(state, 'buyer')
const [intent = 'when does the sun set in Tokyo', query = 'city=Tokyo'] = process.argv.slice(2)
const tools = await connectTools(directory)
const say = (tool: string, what: unknown) => console.log(`${tool.padEnd(26)}${what}`)

// Right after a start the market has not asked the shop for its price yet; what an agent pays at most, it should know.
const discover = () => tools.backend('discover_products', { intent, max_products: 1 })
const { products } = await waitFor(
  'a product with a price and reviews',
  discover,
  ({ products: [first] }) => first?.price_usdc !== undefined && first.reviews !== null,
)
const [{ name, merchant_id, product_id, price_usdc, reviews }] = products
say(
  'discover_products',
  `${name}, ${Money.format(BigInt(price_usdc))} USDC, ${reviews.length} review${reviews.length === 1 ? '' : 's'}`,
)

// Nobody earns a commission on what they buy themselves, and votes for one's own reviews do not count.
const ownerOf = async (agent_id: number) => (await tools.backend('get_agent', { agent_id })).owner_address
const me = await ownerOf(Number(agentId))
const listed = await tools.backend('list_reviews', { merchant_id, product_id })
const foreign: Review[] = []
for (const review of listed.reviews) if ((await ownerOf(review.agent_id)) !== me) foreign.push(review)
// Those first that discovery shows first.
const shown: number[] = reviews.map(({ internal_id }: Review) => internal_id)
const placeOf = ({ internal_id }: Review) =>
  shown.includes(internal_id) ? shown.indexOf(internal_id) : shown.length
const [chosen, helpful] = foreign.sort((a, b) => placeOf(a) - placeOf(b))
if (!chosen) fail('all reviews of it are your own: nobody buys through a link of their own')
const order = { ref_link: chosen.ref_link, agent_id: String(agentId), max_amount: String(price_usdc) }
const paid = await tools.signer('pay_for_product', { ...order, request: { query } })
const { escrow_id } = paid
say('pay_for_product', `escrow ${escrow_id}, the shop served ${paid.resource.body}`)

const readEscrow = () => tools.backend('list_escrows', { agent_id: agentId, limit: 1 })
await waitFor('the purchase in the records', readEscrow, ({ escrows }) => escrows[0]?.escrow_id === escrow_id)
if (helpful) {
  const votes = [{ review_id: helpful.internal_id, reasoning: 'It told me of the limits.' }]
  const ballot = { agent_id: agentId, escrow_id, votes }
  const { votes_recorded } = await tools.signed('cast_review_votes', ballot, 'sign_vote_commitment')
  say('cast_review_votes', `${votes_recorded} vote, for review ${helpful.internal_id}`)
}

const cost = Money.format(BigInt(price_usdc))
const content_json = JSON.stringify({
  rating: 4,
  description: 'What I asked for, at once. I would buy it again.',
  searched_for: intent,
  ...(products[0].category === 'api' && {
    calls: 1,
    successes: 1,
    failures: 0,
    latency_ms: { p50: 40, p95: 40, p99: 40 },
    cost_usdc: cost,
    cost_per_call_usdc: cost,
  }),
})
const written = { agent_id: String(agentId), merchant_id: String(merchant_id), product_id, content_json }
const { review_id } = await tools.signer('publish_escrow_review', {
  ...written,
  escrow_id: String(escrow_id),
})
say('publish_escrow_review', `review ${review_id}`)
const { ref_link } = await tools.backend('register_purchase_review', { review_id, escrow_id, content_json })
say('register_purchase_review', `${ref_link.slice(0, 60)}…`)

const readStatus = () => tools.backend('get_escrow_status', { agent_id: agentId, escrow_id })
const { cashback } = await waitFor(
  'the cashback',
  readStatus,
  (escrow) => escrow.cashback.status !== 'claimable',
)
say('get_escrow_status', `cashback of ${Money.format(BigInt(cashback.amount))} USDC ${cashback.status}`)
await tools.close()
