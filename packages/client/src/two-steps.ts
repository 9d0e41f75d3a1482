// Calls in two steps: the market says what to sign, we sign what we asked for, and the market checks it.
import { Commitment, ProtocolError, VotesHash } from '@referrer/protocol'
import type { Address, TypedDataDefinition } from 'viem'
import { ReferrerError } from './error.ts'
import type { Signer } from './signer.ts'
import type { AnswerOf, Call, RequestOf } from './types.ts'

/**
 * The votes of a purchase: 1 to 3, each on another review by its internal id.
 *
 * @example
 * ```ts
 * import type { Ballot } from '@referrer/client'
 *
 * export const ballot: Ballot = {
 *   agent_id: 7,
 *   escrow_id: 12,
 *   votes: [{ review_id: 5003, reasoning: 'It named the limit that I ran into.' }],
 * }
 * ```
 */
export type Ballot = Required<RequestOf<'/v1/votes/step1', 'post'>['body']>

/**
 * What share of its commissions an agent gives back to buyers, in basis points: at most 4000.
 *
 * @example
 * ```ts
 * import type { Pledge } from '@referrer/client'
 *
 * export const pledge: Pledge = { reviewer_agent_id: 7, cashback_of_commission_bps: 2500 }
 * ```
 */
export type Pledge = Required<RequestOf<'/v1/cashback-rate/step1', 'post'>['body']>

/** Where a commitment counts. */
export interface Place {
  chainId: number
  reviewRegistry: Address
}

interface Context {
  call: Call
  signer: Signer | undefined
  now: () => number
  place: () => Promise<Place>
}

type Votes = AnswerOf<'/v1/votes/step2', 'post'>
type Rate = AnswerOf<'/v1/cashback-rate/step2', 'post'>

export const castVotes = (context: Context, body: Ballot): Promise<Votes> =>
  inTwoSteps(context, '/v1/votes', body, 'VoteCommitment', {
    agentId: body.agent_id,
    escrowId: body.escrow_id,
    votesHash: VotesHash.votesHash(
      body.votes.map(({ review_id, reasoning }) => ({ reviewId: review_id, reasoning })),
    ),
  }) as Promise<Votes>

export const setCashbackRate = (context: Context, body: Pledge): Promise<Rate> =>
  inTwoSteps(context, '/v1/cashback-rate', body, 'CashbackRateCommitment', {
    agentId: body.reviewer_agent_id,
    cashbackOfCommissionBps: body.cashback_of_commission_bps,
  }) as Promise<Rate>

type RestType = 'VoteCommitment' | 'CashbackRateCommitment'
type Wanted<K extends RestType> = Omit<Commitment.MessageInput<K>, 'nonce' | 'expiry'>

async function inTwoSteps<K extends RestType>(
  { call, signer, now, place }: Context,
  path: '/v1/votes' | '/v1/cashback-rate',
  body: object,
  type: K,
  wanted: Wanted<K>,
): Promise<unknown> {
  const [step1, step2] = [`${path}/step1`, `${path}/step2`]
  if (!signer) {
    throw new ReferrerError(`POST ${step2}`, {
      reason: 'the owner of the agent has to sign',
      detail: 'give createReferrerClient its account or wallet',
    })
  }
  const { chainId, reviewRegistry } = await place()
  const params = { query: { chain_id: chainId } }
  const offered = await call('post', step1, { params, body })
  const ours = commitmentOf(type, { chainId, reviewRegistry, wanted, offered, now: now() }, `POST ${step1}`)
  const agent_sig = await signer.signTypedData(ours as object as TypedDataDefinition)
  const { nonce, expiry } = Commitment.envelope(ours)
  return call('post', step2, { params, body: { ...body, nonce, expiry, agent_sig } })
}

/** Clocks may differ by so much. */
const SKEW_SECONDS = 60

/**
 * The commitment that we have asked for, of which the market chooses nothing but nonce and expiry. What it offers must be the same: if it is
 * not, market and client do not mean the same thing, and nothing is signed.
 */
export function commitmentOf<K extends RestType>(
  type: K,
  asked: Place & { wanted: Wanted<K>; offered: unknown; now: number },
  route: string,
): Commitment.Commitment<K> {
  const { chainId, reviewRegistry, wanted, offered } = asked
  const refuse = (detail: string, cause?: unknown): never => {
    throw new ReferrerError(route, { reason: 'the market asks to sign something else', detail, cause })
  }
  const { commitment, nonce, expiry } = (offered ?? {}) as Record<string, unknown>
  let theirs: Commitment.Commitment
  let ours: Commitment.Commitment<K>
  try {
    theirs = Commitment.parse(commitment)
    const message = {
      ...wanted,
      nonce: Commitment.parseNonce(type, nonce),
      expiry,
    } as unknown as Commitment.MessageInput<K>
    ours = Commitment.from(type, { chainId, reviewRegistry, message } as Parameters<
      typeof Commitment.from<K>
    >[1])
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return refuse(error.message, error)
  }
  const flat = ({ primaryType, domain, message }: Commitment.Commitment): Record<string, unknown> => ({
    primaryType,
    ...domain,
    ...message,
  })
  const [wantedFields, offeredFields] = [flat(ours), flat(theirs)]
  for (const [name, value] of Object.entries(wantedFields)) {
    if (offeredFields[name] !== value) refuse(`${name} is ${offeredFields[name]}, and should be ${value}`)
  }
  const secondsLeft = Number(expiry) - Math.floor(asked.now / 1_000)
  if (secondsLeft > Commitment.LIFETIME_SECONDS + SKEW_SECONDS) {
    refuse(`it would be valid for ${secondsLeft} seconds, and should be for ${Commitment.LIFETIME_SECONDS}`)
  }
  return ours
}
