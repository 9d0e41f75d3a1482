import type { AnswerOf } from '@referrer/client'

export type Escrow = AnswerOf<'/v1/escrow/{id}', 'get'>
export type ProductReview = AnswerOf<'/v1/product/reviews', 'get'>['reviews'][number]

/** The reviews that the buyer may vote for: of others, and not the one whose link was paid. */
export const votable = (reviews: readonly ProductReview[], escrow: Escrow, owner: string): ProductReview[] =>
  reviews.filter(
    ({ on_chain_id, agent_id, author }) =>
      on_chain_id !== escrow.review_id &&
      agent_id !== escrow.buyer_agent_id &&
      author.owner_address.toLowerCase() !== owner.toLowerCase(),
  )
