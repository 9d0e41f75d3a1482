import { commissionEscrow, reviewRegistry } from '../contracts.ts'
import { by, type Escrow, keyOf, type MarketTransaction, ORACLE, type State } from './state.ts'

const AGENTLESS = 2n ** 256n - 1n
const WINDOW_SECONDS = 600

/** On the author's own purchase when there is one to be found, else on an approved proof. */
export function review(state: State): MarketTransaction {
  const { random, agents, products, reviews, added } = state
  const escrow = openEscrow(state, (candidate) => candidate.bound && !candidate.reviewed)
  const review = {
    id: BigInt(reviews.length + 1),
    author: escrow?.payersAgent ?? random.pick(agents),
    product: escrow?.product ?? random.pick(products),
    contentHash: random.hash(),
  }
  reviews.push(review)
  if (escrow) escrow.reviewed = true
  return by(
    review.author.owner,
    reviewRegistry('ReviewPublished', {
      reviewId: review.id,
      agentId: review.author.id,
      ...keyOf(review.product),
      contentHash: review.contentHash,
      proofKind: escrow ? 2n : 1n,
      proofId: escrow ? escrow.id : BigInt(++added.proofs),
    }),
  )
}

export function edit({ random, reviews, added }: State, timestamp: number): MarketTransaction {
  const review = random.pick(reviews)
  const previousHash = review.contentHash
  review.contentHash = random.hash()
  added.review_edits++
  return by(
    review.author.owner,
    reviewRegistry('ReviewContentEdited', {
      reviewId: review.id,
      agentId: review.author.id,
      previousHash,
      contentHash: review.contentHash,
      editedAt: BigInt(timestamp),
    }),
  )
}

export function purchase({ random, agents, reviews, escrows }: State, timestamp: number): MarketTransaction {
  let review = random.pick(reviews)
  let payersAgent = random.pick(agents)
  while (!review.product.active || review.author === payersAgent) {
    review = random.pick(reviews)
    payersAgent = random.pick(agents)
  }
  const price = BigInt(random.between(10_000, 50_000_000))
  const commission = price / BigInt(random.between(4, 40))
  const fee = commission / 10n
  const cashback = commission / 5n
  const escrow = {
    id: BigInt(escrows.length + 1),
    payer: payersAgent.owner,
    payersAgent,
    bound: random.chance(0.6),
    product: review.product,
    heldBack: (commission - fee - cashback) / 2n,
    cashback,
    windowEnd: timestamp + WINDOW_SECONDS,
    released: false,
    reviewed: false,
  }
  escrows.push(escrow)
  return by(
    ORACLE,
    commissionEscrow('EscrowDeposited', {
      escrowId: escrow.id,
      reviewerAgentId: review.author.id,
      buyerAgentId: escrow.bound ? payersAgent.id : AGENTLESS,
      payer: escrow.payer,
      nonce: random.hash(),
      ...keyOf(review.product),
      reviewId: review.id,
      price,
      commission,
      fee,
      heldBack: escrow.heldBack,
      cashback,
      windowEnd: BigInt(escrow.windowEnd),
    }),
  )
}

export function bind(state: State): MarketTransaction | undefined {
  const escrow = openEscrow(state, ({ bound, payer, payersAgent }) => !bound && payer === payersAgent.owner)
  if (!escrow) return undefined
  escrow.bound = true
  const { id: escrowId, payer, payersAgent } = escrow
  return by(payer, commissionEscrow('EscrowBound', { escrowId, agentId: payersAgent.id, boundBy: payer }))
}

export function release(state: State): MarketTransaction | undefined {
  const escrow = openEscrow(state, ({ bound, released }) => bound && !released)
  if (!escrow) return undefined
  escrow.released = true
  const { id: escrowId, payer, cashback: amount } = escrow
  return by(ORACLE, commissionEscrow('CashbackReleased', { escrowId, payer, amount }))
}

/** Oldest first. One in five buyers cannot be paid the cashback and claims it later. */
export function settle(state: State, timestamp: number): MarketTransaction | undefined {
  const { random, escrows, claimable, added } = state
  const escrow = escrows[state.settled]
  if (!escrow || escrow.windowEnd > timestamp) return undefined
  state.settled++
  const contradicted = random.chance(0.1)
  const cashback = escrow.released ? 0n : escrow.cashback
  const earned = escrow.bound && random.chance(0.3)
  const settlement = commissionEscrow('EscrowSettled', {
    escrowId: escrow.id,
    settledBy: ORACLE,
    fallbackUsed: false,
    heldBackToReviewer: contradicted ? 0n : escrow.heldBack,
    heldBackToTreasury: contradicted ? escrow.heldBack : 0n,
    cashbackToBuyer: earned ? cashback : 0n,
    cashbackToReviewer: earned ? 0n : cashback,
  })
  if (!earned || cashback === 0n || !random.chance(0.2)) return by(ORACLE, settlement)
  claimable.set(escrow.payer, (claimable.get(escrow.payer) ?? 0n) + cashback)
  added.payouts++
  const deferral = commissionEscrow('PayoutDeferred', { account: escrow.payer, amount: cashback })
  return by(ORACLE, settlement, deferral)
}

export function claim({ claimable, added }: State): MarketTransaction | undefined {
  const [owed] = claimable
  if (!owed) return undefined
  const [account, amount] = owed
  claimable.delete(account)
  added.payouts++
  return by(account, commissionEscrow('PayoutClaimed', { account, amount }))
}

function openEscrow(
  { random, escrows, settled }: State,
  suits: (escrow: Escrow) => boolean,
): Escrow | undefined {
  for (let tries = 0; tries < 8 && settled < escrows.length; tries++) {
    const escrow = escrows[random.between(settled, escrows.length - 1)]
    if (escrow && suits(escrow)) return escrow
  }
  return undefined
}
