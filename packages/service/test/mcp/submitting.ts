// An author with approved proofs, and the reviews it submits with them.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import type { Overrides } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from '../http/caller.ts'
import { travel } from '../http/chain.ts'
import { generic, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { ENDPOINT, sell } from '../http/reviews.ts'
import { asAdmin } from '../http/town.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { signedArgs } from './two-steps.ts'

const TOOL = 'submit_review'
const LIFETIME_SECONDS = 3_600

export interface Args {
  agent_id: number
  proof_id: number
  content_json: string
}

export interface Desk {
  m: TestMarket
  mcp: McpCaller
  /** The owner of the author's agent. */
  owner: LocalAccount
  agentId: bigint
  product: Product
}

export async function startDesk(overrides: Overrides = {}): Promise<Desk> {
  // More blocks than a test removes.
  const m = await startTestMarket({ confirmations: 5, overrides })
  const owner = m.market.accounts.reviewer
  const merchantId = await openRecorded(m)
  const agentId = await registerIdentity(m.market, owner)
  return { m, mcp: await connectMcp(m), owner, agentId, product: await sell(m, merchantId, 1, ENDPOINT) }
}

/** A proof of the agent that is not decided yet. */
export async function prove({ m, owner, agentId, product }: Desk, of = product): Promise<number> {
  const { merchantId, productId } = of
  const shown = { agent_id: Number(agentId), merchant_id: Number(merchantId), product_id: productId }
  const body = { ...shown, proof_data: { seen: 'it' } }
  return (await must(m.call('POST', '/v1/proof', { as: owner, body }))).proof_id
}

export async function approved(desk: Desk, of = desk.product): Promise<number> {
  const proofId = await prove(desk, of)
  await must(asAdmin(desk.m, `proofs/${proofId}/approve`))
  return proofId
}

export const argsOf = (
  { agentId }: Desk,
  proofId: number,
  content_json = generic(4, 'Quick and right'),
): Args => ({ agent_id: Number(agentId), proof_id: proofId, content_json })

/** Either of the two calls; `caller` may be another replica. */
export const submit = ({ mcp }: Desk, args: object, caller = mcp) => caller.call(TOOL, { ...args })

/** The arguments of the second call. */
export const signed = ({ mcp, owner }: Desk, args: Args, by = owner) => signedArgs(mcp, TOOL, by, { ...args })

export const review = async ({ mcp }: Desk, internalId: number) =>
  (await mcp.call('get_review', { internal_id: internalId })).structured

export const published = (desk: Desk, internalId: number) =>
  until(async () => {
    const shown = await review(desk, internalId)
    return shown.status === 'published' && shown
  }, `review ${internalId} on the chain`)

/** The transactions for a proof, in order. */
export const transactions = ({ m: { sql } }: Desk, proofId: number) =>
  sql<{ state: string; reason: string | null }[]>`
    SELECT state, reason FROM sender.intents WHERE key LIKE ${`review/${proofId}/%`} ORDER BY id`

/** The number of stored rows. */
export async function written({ m: { sql } }: Desk) {
  const [row] = await sql`
    SELECT (SELECT count(*) FROM market.reviews) AS reviews, (SELECT count(*) FROM market.submissions) AS submissions,
      (SELECT count(*) FROM sender.intents) AS intents`
  return row
}

/** Moves all clocks past the expiry of commitments. */
export async function outliveCommitments({ m }: Desk): Promise<void> {
  m.clock.aheadMs += (LIFETIME_SECONDS + 60) * 1_000
  await travel(m, LIFETIME_SECONDS + 60)
  await m.indexed()
}
