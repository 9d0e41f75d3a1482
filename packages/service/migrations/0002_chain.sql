-- A mirror of what happened on the chains. The indexer alone writes here, and every row follows its chain through reorganisations;
-- what the service itself knows is in the schema `market`.
CREATE SCHEMA chain;

-- ERC-8004 identities: agents and merchants alike.
CREATE TABLE chain.identities (
  chain_id       bigint      NOT NULL,
  agent_id       bigint      NOT NULL,
  owner          bytea       NOT NULL,
  -- The zero address: none; the owner is paid instead.
  wallet         bytea       NOT NULL,
  uri            text        NOT NULL,
  minted_at      timestamptz NOT NULL,
  -- When it last changed hands; null: never.
  transferred_at timestamptz,
  PRIMARY KEY (chain_id, agent_id)
);
CREATE INDEX identities_by_owner ON chain.identities (chain_id, owner, agent_id);

-- Who owned an identity when.
CREATE TABLE chain.ownership_changes (
  chain_id     bigint      NOT NULL,
  block_number bigint      NOT NULL,
  log_index    integer     NOT NULL,
  agent_id     bigint      NOT NULL,
  -- The zero address: it was minted.
  from_owner   bytea       NOT NULL,
  to_owner     bytea       NOT NULL,
  changed_at   timestamptz NOT NULL,
  PRIMARY KEY (chain_id, block_number, log_index)
);
CREATE INDEX ownership_changes_of_agent ON chain.ownership_changes (chain_id, agent_id, block_number, log_index);

-- A merchant is open while `active`, not `suspended`, and still owned by `opened_by`.
CREATE TABLE chain.merchants (
  chain_id    bigint      NOT NULL,
  merchant_id bigint      NOT NULL,
  active      boolean     NOT NULL DEFAULT false,
  suspended   boolean     NOT NULL DEFAULT false,
  -- Null until its owner acted for the first time.
  opened_by   bytea,
  payout      bytea,
  PRIMARY KEY (chain_id, merchant_id)
);

CREATE TABLE chain.merchant_roles (
  chain_id    bigint  NOT NULL,
  merchant_id bigint  NOT NULL,
  -- A role counts while this account owns the merchant.
  granted_by  bytea   NOT NULL,
  role        bytea   NOT NULL,
  account     bytea   NOT NULL,
  granted     boolean NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, granted_by, role, account)
);

CREATE TABLE chain.products (
  chain_id       bigint      NOT NULL,
  merchant_id    bigint      NOT NULL,
  product_id     bytea       NOT NULL,
  commission_bps integer     NOT NULL,
  min_price      numeric(20) NOT NULL,
  -- 0 repeat, 1 one-off
  product_type   smallint    NOT NULL,
  card_uri       text        NOT NULL,
  active         boolean     NOT NULL,
  listed_at      timestamptz NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id)
);

CREATE TABLE chain.reviews (
  chain_id     bigint      NOT NULL,
  review_id    bigint      NOT NULL,
  -- The service's record of it, in market.reviews.
  internal_id  bigint      NOT NULL,
  agent_id     bigint      NOT NULL,
  merchant_id  bigint      NOT NULL,
  product_id   bytea       NOT NULL,
  content_hash bytea       NOT NULL,
  -- 1 approved proof, 2 escrow
  proof_kind   smallint    NOT NULL,
  proof_id     bigint      NOT NULL,
  published_at timestamptz NOT NULL,
  -- Null: never edited.
  edited_at    timestamptz,
  PRIMARY KEY (chain_id, review_id),
  UNIQUE (internal_id)
);
CREATE INDEX reviews_of_product ON chain.reviews (chain_id, merchant_id, product_id, published_at DESC, review_id DESC);
CREATE INDEX reviews_of_agent ON chain.reviews (chain_id, agent_id, internal_id DESC);
CREATE INDEX reviews_of_proof ON chain.reviews (chain_id, proof_kind, proof_id);

CREATE TABLE chain.review_edits (
  chain_id      bigint      NOT NULL,
  block_number  bigint      NOT NULL,
  log_index     integer     NOT NULL,
  review_id     bigint      NOT NULL,
  previous_hash bytea       NOT NULL,
  content_hash  bytea       NOT NULL,
  edited_at     timestamptz NOT NULL,
  PRIMARY KEY (chain_id, block_number, log_index)
);
CREATE INDEX review_edits_of_review ON chain.review_edits (chain_id, review_id, block_number, log_index);

-- Purchases. A replaced escrow contract counts from 1 again, so that its address is part of the key. Holds all terms that the contract
-- asks for when an escrow is acted upon.
CREATE TABLE chain.escrows (
  chain_id              bigint      NOT NULL,
  contract              bytea       NOT NULL,
  escrow_id             bigint      NOT NULL,
  reviewer_agent_id     bigint      NOT NULL,
  -- Null: bought by a wallet without an agent, and not bound to one yet.
  buyer_agent_id        bigint,
  payer                 bytea       NOT NULL,
  nonce                 bytea       NOT NULL,
  merchant_id           bigint      NOT NULL,
  product_id            bytea       NOT NULL,
  review_id             bigint      NOT NULL,
  price                 numeric(78) NOT NULL,
  commission            numeric(78) NOT NULL,
  fee                   numeric(78) NOT NULL,
  held_back             numeric(78) NOT NULL,
  cashback              numeric(78) NOT NULL,
  window_end            timestamptz NOT NULL,
  deposited_at          timestamptz NOT NULL,
  transaction_hash      bytea       NOT NULL,
  bound_by              bytea,
  bound_at              timestamptz,
  cashback_released_at  timestamptz,
  settled_at            timestamptz,
  settled_by            bytea,
  fallback_used         boolean,
  held_back_to_reviewer numeric(78),
  held_back_to_treasury numeric(78),
  -- Without what was released before.
  cashback_to_buyer     numeric(78),
  cashback_to_reviewer  numeric(78),
  PRIMARY KEY (chain_id, escrow_id, contract)
);
CREATE INDEX escrows_of_reviewer ON chain.escrows (chain_id, reviewer_agent_id, deposited_at DESC, escrow_id DESC);
CREATE INDEX escrows_of_buyer ON chain.escrows (chain_id, buyer_agent_id, deposited_at DESC, escrow_id DESC);
CREATE INDEX escrows_of_bought_product ON chain.escrows (chain_id, buyer_agent_id, merchant_id, product_id, deposited_at DESC);
CREATE INDEX escrows_of_product ON chain.escrows (chain_id, merchant_id, product_id);
CREATE INDEX escrows_of_payment ON chain.escrows (chain_id, payer, nonce);
CREATE INDEX escrows_to_settle ON chain.escrows (chain_id, window_end) WHERE settled_at IS NULL;

-- Money that a blocked recipient could not be paid, and its collection later.
CREATE TABLE chain.payouts (
  chain_id     bigint      NOT NULL,
  block_number bigint      NOT NULL,
  log_index    integer     NOT NULL,
  contract     bytea       NOT NULL,
  account      bytea       NOT NULL,
  claimed      boolean     NOT NULL,
  amount       numeric(78) NOT NULL,
  happened_at  timestamptz NOT NULL,
  PRIMARY KEY (chain_id, block_number, log_index)
);
CREATE INDEX payouts_of_account ON chain.payouts (chain_id, account, block_number, log_index);

SELECT indexer.mirror(format('chain.%I', name)::regclass)
FROM unnest(ARRAY['identities', 'ownership_changes', 'merchants', 'merchant_roles', 'products', 'reviews', 'review_edits', 'escrows', 'payouts']) AS name;
