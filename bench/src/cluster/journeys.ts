// Agents that buy, vote, review what they bought, and wait for their cashback.
import { createReferrerClient, type ReferrerClient, ReferrerError } from '@referrer/client'
import { escrowDeposits, escrowTerms } from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import type { HDAccount } from 'viem/accounts'
import type { Shop } from '../settle/market.ts'
import type { Purchases } from './purchases.ts'
import { Retryable, type Tally, untilDone } from './tally.ts'
import { retryable } from './writes.ts'

const GIVE_UP_MS = 120_000
/** Enough for a published review; the node would reserve a whole block otherwise. */
const PUBLISH_GAS = 1_000_000n

export interface Traveller {
  account: HDAccount
  agentId: bigint
}

export interface Journey {
  traveller: Traveller
  escrowId: bigint
  reviewId: bigint
  /** False for the first one, who had nothing to vote for. */
  hasVoted: boolean
}

export interface Journeys {
  /** Everything that was acknowledged: bought, voted and reviewed. */
  ended: Journey[]
  run(until: () => boolean): Promise<void>
}

export interface JourneysOptions {
  shop: Shop
  travellers: readonly Traveller[]
  /** The internal id of a review that they vote for; undefined: there is none yet. */
  helpful: number | undefined
  purchases: Purchases
  api: typeof fetch
  tally: Tally
}

export function createJourneys({
  shop,
  travellers,
  helpful,
  purchases,
  api,
  tally,
}: JourneysOptions): Journeys {
  const { client, addresses } = shop.market
  const ended: Journey[] = []

  async function travel(traveller: Traveller): Promise<void> {
    const { account, agentId } = traveller
    const bought = await purchases.pay(account, agentId)
    if (!bought || !('transaction' in bought.result)) return
    const receipt = await client.waitForTransactionReceipt({ hash: bought.result.transaction })
    const deposit = escrowDeposits(receipt).find(({ nonce }) => nonce === bought.payment.nonce)
    if (!deposit) throw new Error(`no escrow of the payment is in ${bought.result.transaction}`)
    const { escrowId, merchantId, productId } = deposit
    const market = createReferrerClient({
      url: 'http://market',
      account,
      chainId: client.chain.id,
      fetch: api,
      retries: 0,
    })
    const done = <T>(work: () => Promise<T>) =>
      untilDone(tally, () => work().catch(retryable), { giveUpMs: GIVE_UP_MS })

    const isDone = helpful === undefined || (await done(() => vote(market, agentId, escrowId, helpful)))

    const content = JSON.stringify({ rating: 4, description: `Purchase ${escrowId} did what it promises.` })
    const hash = await client.writeContract({
      account,
      address: addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [
        addresses.CommissionEscrow,
        escrowTerms(deposit),
        ContentHash.contentHash({ agentId, merchantId, productId, content }),
      ],
      gas: PUBLISH_GAS,
    })
    const { logs } = await client.waitForTransactionReceipt({ hash })
    const [published] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
    if (!published) throw new Error(`no review was published in ${hash}`)
    const { reviewId } = published.args
    const isRegistered = await done(() =>
      market
        .post('/v1/review/register', {
          body: { review_id: Number(reviewId), escrow_id: Number(escrowId), content_json: content },
        })
        .then(() => true)
        .catch(unlessUnknown('review')),
    )
    if (isDone && isRegistered) ended.push({ traveller, escrowId, reviewId, hasVoted: helpful !== undefined })
  }

  return {
    ended,
    async run(until) {
      await Promise.all(
        travellers.map(async (traveller) => {
          while (!until()) await travel(traveller)
        }),
      )
    },
  }
}

const vote = (market: ReferrerClient, agentId: bigint, escrowId: bigint, helpful: number): Promise<true> =>
  market
    .castVotes({
      agent_id: Number(agentId),
      escrow_id: Number(escrowId),
      votes: [{ review_id: helpful, reasoning: `It helped with purchase ${escrowId}.` }],
    })
    .then(() => true as const)
    .catch(unlessThere)
    .catch(unlessUnknown('purchase'))

/** A vote whose answer got lost is refused when it is sent again: it is there. */
function unlessThere(error: unknown): true {
  if (error instanceof ReferrerError && error.status === 409) return true
  throw error
}

/** What is on the chain may not be in the records yet: the answer then says to try again. */
const unlessUnknown = (what: string) => (error: unknown) => {
  if (error instanceof ReferrerError && error.status === 404)
    throw new Retryable(`the ${what} is not in the records yet`)
  throw error
}
