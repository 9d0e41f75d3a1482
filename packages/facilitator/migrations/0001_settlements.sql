-- Every payment that was ever shown to a node or sent to a chain. A row is there before anything of it is.
CREATE SCHEMA facilitator;

CREATE TABLE facilitator.settlements (
  chain_id     bigint      NOT NULL,
  payer        bytea       NOT NULL CHECK (octet_length(payer) = 20),
  -- Of the authorisation, or the one that stands for a charged transfer.
  nonce        bytea       NOT NULL CHECK (octet_length(nonce) = 32),
  -- settle: pulls the money and splits it. finish: splits what somebody else pulled. deposit: splits a plain transfer.
  kind         text        NOT NULL CHECK (kind IN ('settle', 'finish', 'deposit')),
  -- Of the purchase that the payment belongs to: tells a copy of a request from another request with the same authorisation.
  digest       bytea       NOT NULL CHECK (octet_length(digest) = 32),
  merchant_id  bigint      NOT NULL,
  product_id   bytea       NOT NULL,
  review_id    bigint      NOT NULL,
  value        bigint      NOT NULL CHECK (value > 0),
  -- The end of the authorisation; null: a charged transfer.
  valid_before bigint,
  -- The transaction that does it, in the sender's outbox; purchases of one batch share it. Anybody may settle a payment whose nonce commits
  -- to its attribution: then there is no transaction of ours.
  intent_id    bigint      REFERENCES sender.intents,
  -- open: nothing of ours is under way. It is pinned and was never sent, or was sent without effect; the same request may try again.
  state        text        NOT NULL DEFAULT 'pending' CHECK (state IN ('open', 'pending', 'settled')),
  -- A transaction with the signature was sent, so that others may have it.
  was_sent     boolean     NOT NULL DEFAULT false,
  transaction  bytea       CHECK (octet_length(transaction) = 32),
  -- Why it failed.
  message      text,
  -- The block that tells so is deep enough never to be undone, or nothing was sent.
  is_final     boolean     NOT NULL DEFAULT false,
  -- Of this try, in base units. cost: its gas over its life. gift: what that is beyond its fee, if it is settled as expected. risk: what it
  -- may cost at worst. Once it is mined: what it did cost. burned: what earlier tries of the day did. surplus: what its fee left.
  cost         bigint      NOT NULL DEFAULT 0,
  gift         bigint      NOT NULL DEFAULT 0,
  gift_of      text        NOT NULL DEFAULT 'new' CHECK (gift_of IN ('new', 'merchant')),
  risk         bigint      NOT NULL DEFAULT 0,
  risk_of      text        NOT NULL DEFAULT 'new' CHECK (risk_of IN ('new', 'merchant', 'payer')),
  burned       bigint      NOT NULL DEFAULT 0,
  surplus      bigint      NOT NULL DEFAULT 0,
  -- Since 1970, of the last try.
  day          integer     NOT NULL DEFAULT 0,
  -- The request by which it came: for logs, nothing depends on it.
  request_id   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, payer, nonce),
  CHECK (state <> 'settled' OR transaction IS NOT NULL),
  CHECK (state <> 'pending' OR intent_id IS NOT NULL)
);

CREATE INDEX settlements_intent ON facilitator.settlements (intent_id);
-- What a restart has to look after; it stays small.
CREATE INDEX settlements_open ON facilitator.settlements (chain_id, intent_id) WHERE NOT is_final;
-- What a day has cost: as many rows as the sum of a day allows.
CREATE INDEX settlements_cost ON facilitator.settlements (chain_id, day) INCLUDE (payer, merchant_id, gift, gift_of, risk, risk_of, burned)
  WHERE gift + risk + burned > 0;
-- Pins of which nothing came are deleted when they have ended.
CREATE INDEX settlements_unsent ON facilitator.settlements (valid_before) WHERE state = 'open' AND NOT was_sent;

-- Half of what the fees of a merchant or a payer have left when their gas was paid, less what was drawn on it since; of final rows.
CREATE TABLE facilitator.credits (
  chain_id bigint NOT NULL,
  kind     text   NOT NULL CHECK (kind IN ('merchant', 'payer')),
  id       bytea  NOT NULL,
  credit   bigint NOT NULL,
  PRIMARY KEY (chain_id, kind, id)
) WITH (fillfactor = 70);
