// The tools of both servers by their names.

export const READS = [
  ...[
    'discover_products',
    'resolve_ref_link',
    'get_agent_context',
    'get_reviewable_products',
    'get_proof_status',
  ],
  ...['list_reviews', 'get_review', 'get_agent', 'get_earnings', 'list_escrows', 'get_escrow_status'],
  ...['get_escrow_terms', 'get_review_rank', 'get_merchant', 'get_merchant_product', 'check_readiness'],
  'check_review_content',
  'get_feedback',
]
export const WRITES = [
  ...[
    'cast_review_votes',
    'submit_proof',
    'register_purchase_review',
    'submit_review',
    'update_review_content',
  ],
  ...['register_agent', 'set_cashback_rate', 'mark_intent_executed', 'mark_intent_skipped', 'link_messenger'],
]
export const POLL = 'get_pending_intents'
export const TWO_STEPS = [
  ...['cast_review_votes', 'set_cashback_rate', 'submit_review', 'link_messenger', POLL],
  ...['mark_intent_executed', 'mark_intent_skipped'],
]
export const OF_SIGNER = [
  ...['sign_review_commitment', 'sign_vote_commitment', 'sign_cashback_rate_commitment'],
  ...['sign_messenger_link_commitment', 'sign_intent_access_commitment', 'sign_intent_mark_commitment'],
  ...['sign_intent_skip_commitment', 'sign_charge_commitment', 'pay_for_product', 'publish_escrow_review'],
  ...['bind_escrow', 'trigger_settle_fallback', 'update_review_content_onchain', 'get_wallet_status'],
]
/** Fields of the signer's tools, of intents and of reviews. */
export const FIELDS_ELSEWHERE = [
  ...['max_amount', 'idempotency_key', 'submit_votes', 'buy_product'],
  ...['latency_ms', 'cost_usdc', 'cost_per_call_usdc', 'searched_for'],
]
