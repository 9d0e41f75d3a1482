import { type EscrowDeposit, escrowTerms, publishWithProof } from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import type { HDAccount } from 'viem/accounts'
import { accountOf, agentOf, type Game, merchantOf, placesOf } from './game.ts'
import type { PlannedReview } from './plan.ts'
import { FAR } from './snapshot.ts'

/** The node has the keys of all who play, and is quicker at signing. */
const heldByNode = ({ address }: HDAccount) => ({ address, type: 'json-rpc' }) as const
async function submitProof(game: Game, { by, good }: Pick<PlannedReview, 'by' | 'good'>): Promise<number> {
  const { proof_id } = await game.caller.post<{ proof_id: number }>(accountOf(by), '/v1/proof', {
    agent_id: agentOf(game, by),
    merchant_id: merchantOf(game, { good }),
    product_id: good.productId,
    proof_data: { note: `Had access to ${good.name} before it was sold here.` },
  })
  return proof_id
}

/** Reviews of people who show that they used the product, which the admin approves. */
export async function publishProven(game: Game, day: number): Promise<void> {
  for (const [place, review] of placesOf(game.plan.reviews, day, ({ purchase }) => purchase === undefined)) {
    const proofId = await submitProof(game, review)
    await game.caller.postWith(game.adminToken, `/admin/proofs/${proofId}/approve`)
    const { reviewId } = await publishWithProof(game.market, accountOf(review.by), {
      agentId: BigInt(agentOf(game, review.by)),
      product: { merchantId: BigInt(merchantOf(game, review)), productId: review.good.productId },
      content: JSON.stringify(review.content),
      proofId: BigInt(proofId),
      expiry: FAR,
    })
    await register(game, place, review, { review_id: Number(reviewId), escrow_id: 0 })
  }
}

async function register(
  { caller, published }: Game,
  place: number,
  { by, content }: PlannedReview,
  ids: { review_id: number; escrow_id: number },
): Promise<void> {
  const answer = await caller.post<{ review_id: number; ref_link: string }>(
    accountOf(by),
    '/v1/review/register',
    { ...ids, content_json: JSON.stringify(content) },
  )
  const { review_id: internalId, ref_link: link } = answer
  published.set(place, { internalId, link })
}

/** Buyers vote on the reviews that they read, and publish what they think. */
export async function judgeAll(game: Game, day: number): Promise<void> {
  for (const [place, review] of placesOf(game.plan.reviews, day, ({ purchase }) => purchase !== undefined)) {
    const deposit = game.deposits.get(review.purchase ?? -1)
    if (!deposit) throw new Error(`review ${place} is of nothing that was bought`)
    const escrow_id = Number(deposit.escrowId)
    const account = accountOf(review.by)
    const agent_id = agentOf(game, review.by)
    const votes = review.votes.map(({ review: voted, reasoning }) => ({
      review_id: game.published.get(voted)?.internalId,
      reasoning,
    }))
    if (votes.length > 0) await game.caller.inTwoSteps(account, '/v1/votes', { agent_id, escrow_id, votes })
    const review_id = await publishBought(game, account, { agentId: BigInt(agent_id), review, deposit })
    await register(game, place, review, { review_id, escrow_id })
  }
}

async function publishBought(
  { market }: Game,
  account: HDAccount,
  { agentId, review, deposit }: { agentId: bigint; review: PlannedReview; deposit: EscrowDeposit },
): Promise<number> {
  const { merchantId, productId } = deposit
  const content = JSON.stringify(review.content)
  const hash = await market.client.writeContract({
    account: heldByNode(account),
    gas: 1_000_000n,
    address: market.addresses.ReviewRegistry,
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [
      market.addresses.CommissionEscrow,
      escrowTerms(deposit),
      ContentHash.contentHash({ agentId, merchantId, productId, content }),
    ],
  })
  const { logs } = await market.client.waitForTransactionReceipt({ hash })
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
  if (!event) throw new Error(`no review was published in ${hash}`)
  return Number(event.args.reviewId)
}

export async function leaveProofs(game: Game, day: number): Promise<void> {
  for (const proof of game.plan.proofs.filter((one) => one.day === day)) {
    const proofId = await submitProof(game, proof)
    const decision = { note: 'It shows nothing of the product.' }
    if (proof.isRejected)
      await game.caller.postWith(game.adminToken, `/admin/proofs/${proofId}/reject`, decision)
  }
}
