-- The messages about each purchase of an agent: one that confirms it, and reminders to review it. A purchase is identified by its payment,
-- because a reorganisation can give it another escrow id.
CREATE TABLE market.notices (
  chain_id        bigint      NOT NULL,
  contract        bytea       NOT NULL,
  payer           bytea       NOT NULL,
  nonce           bytea       NOT NULL,
  escrow_id       bigint      NOT NULL,
  window_end      timestamptz NOT NULL,
  -- When the next message is to be sent; null: none is. It follows from the records and from the columns below.
  due_at          timestamptz,
  -- No confirmation is to be sent any more.
  pinged          boolean     NOT NULL DEFAULT false,
  -- When the last message was sent or passed over.
  done_at         timestamptz,
  -- Replaces the date of the next reminder: the owner asked for it, or nobody knows whether the last reminder arrived (`is_repeat`).
  remind_at       timestamptz,
  is_repeat       boolean     NOT NULL DEFAULT false,
  -- The message was tried so many times, and is not tried before `retry_at`.
  attempts        integer     NOT NULL DEFAULT 0,
  retry_at        timestamptz,
  -- The number of messages before this one; part of its idempotency key.
  sequence        integer     NOT NULL DEFAULT 0,
  -- The chat to which the message may be on its way, written before the request leaves.
  sending_channel text,
  sending_chat    text,
  -- The worker that has the row.
  lease_token     uuid,
  lease_until     timestamptz,
  PRIMARY KEY (chain_id, payer, nonce, contract)
);
CREATE INDEX notices_due ON market.notices (chain_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notices_by_window_end ON market.notices (window_end);

-- Purchases that were made before get reminders, and no confirmations. The follower computes when.
INSERT INTO market.notices (chain_id, contract, payer, nonce, escrow_id, window_end, pinged)
SELECT chain_id, contract, payer, nonce, escrow_id, window_end, true
FROM chain.escrows WHERE buyer_agent_id IS NOT NULL AND settled_at IS NULL AND window_end > now()
-- The same payment cannot be made twice; should the records say so, one row is enough.
ON CONFLICT DO NOTHING;
INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id
FROM chain.escrows WHERE buyer_agent_id IS NOT NULL AND settled_at IS NULL AND window_end > now();
