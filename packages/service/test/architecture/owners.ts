// The list of which folder writes which table of the service. `tables.test.ts` compares it with the sources.

/**
 * The tables of each folder of `src`: no other folder inserts, updates or deletes their rows, except as the lists
 * below say.
 */
export const OWNERS: Record<string, readonly string[]> = {
  'machinery/replicas': ['jobs.caller_positions'],
  'machinery/workers': ['jobs.schedules'],
  'market/agents': ['chain.identities', 'chain.ownership_changes', 'market.agents'],
  'market/cashback': ['market.cashback_rates'],
  'market/checklists': ['market.checklists'],
  'market/dead-letters': ['market.dead_letters'],
  'market/escrows': ['chain.escrows', 'chain.payouts', 'chain.skipped_escrows'],
  'market/feedback': ['chain.feedback', 'chain.feedback_counts'],
  'market/intents': ['market.intents', 'market.purchase_drafts'],
  'market/merchants': [
    'chain.merchants',
    'chain.merchant_roles',
    'chain.products',
    'market.merchants',
    'market.products',
  ],
  'market/messenger': ['market.burned_nonces', 'market.chat_links', 'market.link_codes'],
  'market/proofs': ['market.proofs', 'market.receipts', 'market.spent_receipts'],
  'market/registrations': ['market.registrations'],
  'market/reviews': [
    'chain.reviews',
    'chain.review_edits',
    'market.reviews',
    'market.review_changes',
    'market.disputes',
    'market.dispute_decisions',
    'market.submissions',
  ],
  'market/spending': ['market.spending_limits'],
  'market/verifications': ['market.shop_verifications'],
  'market/votes': ['market.ballots', 'market.votes'],
  'market/webhooks': ['market.webhooks', 'market.webhook_deliveries'],
  'market/quotas': ['market.written'],
  'derived/following': ['market.pending_changes'],
  'derived/opinions': [
    'market.opinions',
    'market.opinion_totals',
    'market.product_totals',
    'market.merchant_totals',
  ],
  'derived/oracle': [
    'market.comparisons',
    'market.comparison_inputs',
    'market.comparisons_under_way',
    'market.findings',
    'market.escrow_decisions',
  ],
  'derived/ranks': [
    'market.counted_purchases',
    'market.counted_votes',
    'market.author_money',
    'market.spent_at_shops',
    'market.ranked_reviews',
    'market.unheard_voters',
    'market.rank_evidence',
    'market.rank_totals',
    'market.review_ranks',
  ],
  'derived/standing': ['market.standing_passes', 'market.owner_standings', 'market.shop_standings'],
  'derived/rings': ['market.rings', 'market.ring_members', 'market.ring_searches', 'market.ring_shops'],
  'derived/listings': ['market.listings', 'market.searched_words'],
  'derived/notices': ['market.notices'],
  'derived/webhooks': ['market.webhook_changes'],
  'derived/offers': ['market.offers'],
  'derived/texts': ['market.texts_to_embed'],
  'discovery/embeddings': [
    'market.embedders',
    'market.product_vectors',
    'market.review_vectors',
    'market.word_vectors',
  ],
  'discovery/memory-index': ['market.vector_cells', 'market.index_snapshots', 'market.index_snapshot_parts'],
  'doors/auth': ['market.seen_requests', 'market.sessions'],
}

/** Columns that a folder computes in another folder's rows: it may update these columns and nothing else of the row. */
export const COLUMNS: Record<string, readonly string[]> = {
  'market/ref-tokens': [
    'market.reviews.ref_token',
    'market.reviews.ref_key',
    'market.reviews.ref_review_id',
    'market.products.linked_endpoint',
    'market.products.linked_signer',
  ],
  'derived/opinions': ['market.products.rank', 'market.merchants.rank'],
  'derived/oracle': ['market.reviews.comparison_outcome'],
}

/** The queue of changes: each of these folders inserts changes for the followers, and only the owner deletes. */
export const QUEUES: Record<string, readonly string[]> = {
  'market.pending_changes': ['derived/listings', 'derived/opinions', 'derived/ranks'],
}

/** What database functions write, as triggers: always in the transaction of the change that they queue or count. */
export const TRIGGERS: Record<string, readonly string[]> = {
  'market.pending_changes': [
    'market.mark_agents',
    'market.mark_ballots',
    'market.mark_changed_purchases',
    'market.mark_described_products',
    'market.mark_flagged_agents',
    'market.mark_listings',
    'market.mark_merchants',
    'market.mark_offers',
    'market.mark_products',
    'market.mark_purchases',
    'market.mark_reviews',
    'market.mark_reviews_of_chain',
    'market.mark_rewritten_reviews',
    'market.mark_transferred_agents',
  ],
  'market.review_changes': ['market.note_changed_reviews', 'market.note_changed_reviews_of_chain'],
  'market.counts': [
    'market.count_changed_products',
    'market.count_open_products',
    'market.count_reviews_of_chain',
    'market.count_reviews_with_text',
    'market.count_rows',
  ],
  'market.range_counts': [
    'market.place_agents',
    'market.place_reviews_of_chain',
    'market.place_reviews_with_text',
  ],
  'market.product_reviews': [
    'market.count_product_reviews_of_chain',
    'market.count_product_reviews_with_text',
  ],
  'market.agent_reviews': ['market.count_agent_reviews_of_chain', 'market.count_agent_reviews_with_text'],
  'market.agent_sales': ['market.count_purchases'],
  'market.review_sales': ['market.count_purchases'],
  'market.review_votes': ['market.count_votes'],
  'market.category_products': ['market.count_changed_products', 'market.count_open_products'],
  'market.earning_days': ['market.add_earning_days'],
  'market.opinion_days': ['market.add_opinion_days'],
  'market.trade_totals': ['market.count_purchases'],
  'market.product_sales': ['market.count_sales'],
  'market.daily_sales': ['market.add_daily_sales'],
  'market.rank_sums': ['market.sum_ranks'],
  'market.earnings': ['market.add_totals'],
  'market.sales': ['market.add_totals'],
  'market.spent': ['market.add_spent'],
}

/** Written once, by the migration that created it. */
export const CONSTANT: readonly string[] = ['market.secrets']

/** Files whose statements get the table name from a value, and where these names are checked. */
export const BY_VALUE: Record<string, string> = {
  'machinery/db/rows.ts': 'each `Table` of a mirror.ts names one, and is read as a write of that folder',
  'discovery/postgres-index/numbers.ts': 'search.terms or search.words, made in schema.ts beside it',
  'discovery/postgres-index/write-vectors.ts': 'tables of the schema search, made in models.ts beside it',
}
