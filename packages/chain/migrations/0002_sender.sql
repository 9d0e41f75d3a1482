-- The sender's outbox: what is to happen on a chain, and every transaction that was ever signed for it.
CREATE SCHEMA sender;

CREATE TABLE sender.intents (
  id           bigint        GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id     bigint        NOT NULL,
  -- Whoever enqueues the same key again means the same intent.
  key          text          NOT NULL,
  label        text,
  from_address bytea         NOT NULL CHECK (octet_length(from_address) = 20),
  to_address   bytea         NOT NULL CHECK (octet_length(to_address) = 20),
  data         bytea         NOT NULL,
  value        numeric(78,0) NOT NULL CHECK (value >= 0),
  -- Does nothing but use a nonce that nothing else will use.
  fills_gap    boolean       NOT NULL DEFAULT false,
  state        text          NOT NULL DEFAULT 'enqueued' CHECK (state IN ('enqueued', 'sent', 'confirmed', 'failed')),
  nonce        bigint        CHECK (nonce >= 0),
  gas          bigint,
  -- Where it was mined. May still change while the state is 'sent'.
  mined_hash   bytea,
  block_number bigint,
  block_hash   bytea,
  -- Why it failed, or why it does not get on.
  reason       text,
  -- How often in a row its simulation reverted, and up to which nonce our earlier transactions have to be mined before that counts.
  reverts      integer       NOT NULL DEFAULT 0,
  after_nonce  bigint,
  retry_at     timestamptz   NOT NULL DEFAULT '-infinity',
  enqueued_at  timestamptz   NOT NULL DEFAULT now(),
  changed_at   timestamptz   NOT NULL DEFAULT now(),
  UNIQUE (chain_id, key),
  CHECK (state <> 'enqueued' OR nonce IS NULL),
  CHECK (state NOT IN ('sent', 'confirmed') OR nonce IS NOT NULL)
);

-- No nonce is ever held by two intents.
CREATE UNIQUE INDEX intents_nonce ON sender.intents (chain_id, from_address, nonce);
-- The line, what is in flight, and what health counts; it stays as small as they are.
CREATE INDEX intents_open ON sender.intents (chain_id, from_address, state, id) WHERE state IN ('enqueued', 'sent');

CREATE TABLE sender.transactions (
  hash                     bytea         PRIMARY KEY,
  intent_id                bigint        NOT NULL REFERENCES sender.intents,
  chain_id                 bigint        NOT NULL,
  from_address             bytea         NOT NULL,
  nonce                    bigint        NOT NULL,
  raw                      bytea         NOT NULL,
  max_fee_per_gas          numeric(78,0) NOT NULL,
  max_priority_fee_per_gas numeric(78,0) NOT NULL,
  signed_at                timestamptz   NOT NULL
);

CREATE INDEX transactions_intent ON sender.transactions (intent_id);
CREATE INDEX transactions_nonce ON sender.transactions (chain_id, from_address, nonce);
