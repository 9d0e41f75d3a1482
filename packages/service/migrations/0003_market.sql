-- What the service itself knows and no chain can tell. Rows here are never rolled back. Those that the indexer learned from events
-- carry the block until it is final: one that the chain dropped by then goes too, unless somebody has added to it.
CREATE SCHEMA market;

CREATE TABLE market.agents (
  chain_id       bigint      NOT NULL,
  agent_id       bigint      NOT NULL,
  recorded_at    timestamptz NOT NULL DEFAULT now(),
  -- Null: known from events only. An agent that registers itself brings the two below.
  registered_at  timestamptz,
  uri            text        NOT NULL DEFAULT '',
  payment_wallet bytea,
  flagged        boolean     NOT NULL DEFAULT false,
  learned_in     bigint,
  PRIMARY KEY (chain_id, agent_id)
);
CREATE INDEX agents_not_final ON market.agents (chain_id, learned_in) WHERE learned_in IS NOT NULL;

-- What an agent pledges of its commission to buyers of reviews that it publishes from now on.
CREATE TABLE market.cashback_rates (
  chain_id bigint      NOT NULL,
  agent_id bigint      NOT NULL,
  bps      integer     NOT NULL CHECK (bps BETWEEN 0 AND 4000),
  set_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, agent_id)
);

CREATE TABLE market.merchants (
  chain_id         bigint      NOT NULL,
  merchant_id      bigint      NOT NULL,
  registered_at    timestamptz NOT NULL DEFAULT now(),
  metadata_uri     text,
  description      text,
  landing_page_url text,
  rank             float8,
  PRIMARY KEY (chain_id, merchant_id)
);

CREATE TABLE market.products (
  chain_id     bigint NOT NULL,
  merchant_id  bigint NOT NULL,
  product_id   bytea  NOT NULL,
  endpoint_url text,
  name         text   NOT NULL DEFAULT '',
  description  text   NOT NULL DEFAULT '',
  category     text   NOT NULL DEFAULT '',
  -- The platform's mean until there is evidence.
  rank         float8 NOT NULL DEFAULT 0.5,
  described_at timestamptz,
  learned_in   bigint,
  PRIMARY KEY (chain_id, merchant_id, product_id)
);
CREATE INDEX products_by_rank ON market.products (chain_id, rank DESC, merchant_id, product_id);
CREATE INDEX products_by_category ON market.products (chain_id, category, rank DESC, merchant_id, product_id);
CREATE INDEX products_not_final ON market.products (chain_id, learned_in) WHERE learned_in IS NOT NULL;

-- A review enters the records when it is submitted here or seen on the chain, whichever comes first, and keeps its number and its
-- pledge from then on, wherever the chain moves it.
CREATE TABLE market.reviews (
  internal_id        bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id           bigint      NOT NULL,
  agent_id           bigint      NOT NULL,
  merchant_id        bigint      NOT NULL,
  product_id         bytea       NOT NULL,
  -- Of the content it was published with.
  published_hash     bytea       NOT NULL,
  proof_kind         smallint    NOT NULL,
  proof_id           bigint      NOT NULL,
  cashback_bps       integer     NOT NULL,
  entered_at         timestamptz NOT NULL DEFAULT now(),
  -- Null until somebody brings the text to the hash; `content_hash` is the hash of this text.
  content            text,
  content_hash       bytea,
  satisfaction_score float8,
  comparison_outcome text        NOT NULL DEFAULT 'pending'
    CHECK (comparison_outcome IN ('pending', 'confirmed', 'contradicted', 'disputed', 'resolved')),
  learned_in         bigint,
  -- How many reviews of the chain had the same proof and content before: a replaced escrow contract counts from 1 again.
  repeated           smallint    NOT NULL DEFAULT 0,
  UNIQUE (chain_id, proof_kind, proof_id, published_hash, agent_id, merchant_id, product_id, repeated)
);
CREATE INDEX reviews_with_content ON market.reviews (chain_id, internal_id DESC) WHERE content IS NOT NULL;
CREATE INDEX reviews_not_final ON market.reviews (chain_id, learned_in) WHERE learned_in IS NOT NULL;

CREATE TABLE market.proofs (
  proof_id     bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id     bigint      NOT NULL,
  agent_id     bigint      NOT NULL,
  merchant_id  bigint      NOT NULL,
  product_id   bytea       NOT NULL,
  proof_data   jsonb       NOT NULL,
  status       text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected')),
  submitted_at timestamptz NOT NULL DEFAULT now(),
  reviewed_at  timestamptz,
  reviewed_by  bytea,
  -- For the admin's eyes only.
  note         text
);
CREATE INDEX proofs_of_agent ON market.proofs (chain_id, agent_id, status, proof_id DESC);
CREATE INDEX proofs_to_review ON market.proofs (chain_id, proof_id) WHERE status = 'pending';
