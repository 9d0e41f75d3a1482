-- Every payment that was ever sent to a chain. A row is there before anything of it is.
CREATE SCHEMA facilitator;

CREATE TABLE facilitator.settlements (
  chain_id    bigint      NOT NULL,
  payer       bytea       NOT NULL CHECK (octet_length(payer) = 20),
  -- Of the authorisation, or the one that stands for a charged transfer.
  nonce       bytea       NOT NULL CHECK (octet_length(nonce) = 32),
  -- settle: pulls the money and splits it. finish: splits what somebody else pulled. refund: gives that back.
  -- deposit, deposit_refund: the same two for a plain transfer.
  kind        text        NOT NULL CHECK (kind IN ('settle', 'finish', 'refund', 'deposit', 'deposit_refund')),
  -- Tells a copy of a request from another request with the same authorisation.
  digest      bytea       NOT NULL CHECK (octet_length(digest) = 32),
  merchant_id bigint      NOT NULL,
  product_id  bytea       NOT NULL,
  review_id   bigint      NOT NULL,
  value       bigint      NOT NULL CHECK (value > 0),
  -- The transaction that does it, in the sender's outbox; purchases of one batch share it. Anybody may settle a payment whose nonce commits
  -- to its attribution: then there is no transaction of ours.
  intent_id   bigint      REFERENCES sender.intents,
  state       text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'settled', 'refunded', 'failed')),
  transaction bytea       CHECK (octet_length(transaction) = 32),
  -- Why it failed, or why the money went back.
  message     text,
  -- The block that tells so is deep enough never to be undone, or nothing was sent.
  is_final    boolean     NOT NULL DEFAULT false,
  created_at  timestamptz NOT NULL DEFAULT now(),
  changed_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, payer, nonce),
  CHECK (state NOT IN ('settled', 'refunded') OR transaction IS NOT NULL),
  CHECK (intent_id IS NOT NULL OR (state = 'settled' AND is_final))
);

CREATE INDEX settlements_intent ON facilitator.settlements (intent_id);
-- What a restart has to look after; it stays small.
CREATE INDEX settlements_open ON facilitator.settlements (chain_id, intent_id) WHERE NOT is_final;
