// Calls in two steps as an independent client makes them: the typed data of step 1 is signed unchanged.
import type { LocalAccount, TypedDataDefinition } from 'viem'
import { type Answer, must } from './caller.ts'
import type { TestMarket } from './market.ts'

type Service = Pick<TestMarket, 'call'>
type Body = Record<string, unknown>
type Id = bigint | number
type Signer = Pick<LocalAccount, 'signTypedData'>

export const VOTES = '/v1/votes'
export const CASHBACK_RATE = '/v1/cashback-rate'

export interface Cast {
  agentId: Id
  escrowId: Id
  /** Reviews by their internal ids; a plain number gets a default reasoning. */
  votes: readonly (number | { review_id: number; reasoning: string })[]
}

export interface Pledge {
  agentId: Id
  bps: number
}

export const voteBody = ({ agentId, escrowId, votes }: Cast): Body => ({
  agent_id: Number(agentId),
  escrow_id: Number(escrowId),
  votes: votes.map((vote) =>
    typeof vote === 'number' ? { review_id: vote, reasoning: 'It told me what I wanted to know.' } : vote,
  ),
})

export const pledgeBody = ({ agentId, bps }: Pledge): Body => ({
  reviewer_agent_id: Number(agentId),
  cashback_of_commission_bps: bps,
})

/** The body of step 2: that of step 1, with its commitment signed by `signer`. */
export async function signedBody(
  { call }: Service,
  path: string,
  { as, signer = as, body, query = '' }: { as: LocalAccount; signer?: Signer; body: Body; query?: string },
): Promise<Body> {
  const { commitment, nonce, expiry } = await must(call('POST', `${path}/step1${query}`, { as, body }))
  const agent_sig = await signer.signTypedData(commitment as TypedDataDefinition)
  return { ...body, nonce, expiry, agent_sig }
}

/** Does both steps as the owner; returns the answer of step 2. */
async function inTwoSteps(m: Service, path: string, as: LocalAccount, body: Body): Promise<Answer> {
  return m.call('POST', `${path}/step2`, { as, body: await signedBody(m, path, { as, body }) })
}

export const vote = (m: Service, owner: LocalAccount, cast: Cast): Promise<Answer> =>
  inTwoSteps(m, VOTES, owner, voteBody(cast))

export const setCashbackRate = (m: Service, owner: LocalAccount, pledge: Pledge): Promise<Answer> =>
  inTwoSteps(m, CASHBACK_RATE, owner, pledgeBody(pledge))
