-- What the doors keep.

CREATE TABLE market.sessions (
  -- SHA-256: whoever reads this table learns no token.
  token_hash bytea       PRIMARY KEY,
  address    bytea       NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_expiry ON market.sessions (expires_at);

-- Signed requests that must not count twice, on all replicas together.
CREATE TABLE market.seen_requests (
  digest    bytea       PRIMARY KEY,
  forget_at timestamptz NOT NULL
);
CREATE INDEX seen_requests_by_age ON market.seen_requests (forget_at);

CREATE TABLE market.spending_limits (
  owner           bytea       NOT NULL,
  chain_id        bigint      NOT NULL,
  -- Null: unlimited.
  per_tx_cap      bigint,
  daily_cap       bigint,
  total_cap       bigint,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (owner, chain_id)
);

-- The votes of a purchase come all at once.
CREATE TABLE market.votes (
  chain_id           bigint      NOT NULL,
  escrow_contract    bytea       NOT NULL,
  escrow_id          bigint      NOT NULL,
  voter_agent_id     bigint      NOT NULL,
  review_internal_id bigint      NOT NULL REFERENCES market.reviews,
  reasoning          text        NOT NULL,
  -- Not when the voter's owner is the author's: such a vote is kept and counts for nothing.
  qualifies          boolean     NOT NULL,
  cast_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, escrow_id, escrow_contract, review_internal_id)
);
CREATE INDEX votes_of_agent ON market.votes (chain_id, voter_agent_id);
CREATE INDEX votes_on_review ON market.votes (review_internal_id);

-- The token of a review's ref link; null: it has none. `ref_key` names what it was made of, which all reviews of a product share: the
-- endpoint, the key that signed it, the router. It counts while the review has the id on the chain that it was made for.
ALTER TABLE market.reviews
  ADD COLUMN ref_token     text,
  ADD COLUMN ref_key       text,
  ADD COLUMN ref_review_id bigint;

-- What the tokens of a product's reviews were last made of, all of them; where it differs, they are made anew.
ALTER TABLE market.products
  ADD COLUMN linked_endpoint text,
  ADD COLUMN linked_signer   text NOT NULL DEFAULT '';
CREATE INDEX products_to_link ON market.products (chain_id, merchant_id, product_id)
  WHERE endpoint_url IS DISTINCT FROM linked_endpoint;
CREATE INDEX products_by_signer ON market.products (chain_id, linked_signer) WHERE linked_endpoint IS NOT NULL;

CREATE INDEX reviews_in_dispute ON market.reviews (chain_id, internal_id) WHERE comparison_outcome = 'disputed';
CREATE INDEX reviews_of_product_record ON market.reviews (chain_id, merchant_id, product_id, internal_id) WHERE content IS NOT NULL;

-- The decision of an admin on a disputed review.
CREATE TABLE market.dispute_decisions (
  internal_id bigint      PRIMARY KEY REFERENCES market.reviews,
  decided_at  timestamptz NOT NULL DEFAULT now(),
  decided_by  bytea       NOT NULL,
  note        text        NOT NULL
);

-- What a buyer of a category should look at, in the words of an admin.
CREATE TABLE market.checklists (
  category    text        PRIMARY KEY,
  items       text[]      NOT NULL,
  authored_at timestamptz NOT NULL DEFAULT now(),
  authored_by bytea       NOT NULL
);

-- As it came: a value may hold what jsonb cannot.
ALTER TABLE market.proofs ALTER COLUMN proof_data TYPE text USING proof_data::text;

-- Admins list proofs of every status, by time: by number they would be read along the primary key, past all that were decided long ago.
-- Holds what proofs_to_review did.
CREATE INDEX proofs_by_status ON market.proofs (chain_id, status, submitted_at, proof_id);
DROP INDEX market.proofs_to_review;

-- Who owned an agent when it registered itself: its payment wallet is this owner's.
ALTER TABLE market.agents ADD COLUMN registered_by bytea;

-- Ranks that have been computed; no row or null: not yet.
CREATE TABLE market.review_ranks (
  chain_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  repeat   float8 CHECK (repeat BETWEEN 0 AND 1),
  one_off  float8 CHECK (one_off BETWEEN 0 AND 1),
  PRIMARY KEY (chain_id, agent_id)
);

-- Their sums, kept with every change. Numeric: sums of floats drift.
CREATE TABLE market.rank_sums (
  chain_id      bigint  PRIMARY KEY,
  repeat_sum    numeric NOT NULL,
  repeat_count  bigint  NOT NULL,
  one_off_sum   numeric NOT NULL,
  one_off_count bigint  NOT NULL
);

CREATE FUNCTION market.sum_ranks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO market.rank_sums AS s
    SELECT chain_id, -coalesce(sum(repeat::numeric), 0), -count(repeat), -coalesce(sum(one_off::numeric), 0), -count(one_off)
    FROM before GROUP BY chain_id ORDER BY chain_id
    ON CONFLICT (chain_id) DO UPDATE SET
      repeat_sum = s.repeat_sum + excluded.repeat_sum, repeat_count = s.repeat_count + excluded.repeat_count,
      one_off_sum = s.one_off_sum + excluded.one_off_sum, one_off_count = s.one_off_count + excluded.one_off_count;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO market.rank_sums AS s
    SELECT chain_id, coalesce(sum(repeat::numeric), 0), count(repeat), coalesce(sum(one_off::numeric), 0), count(one_off)
    FROM after GROUP BY chain_id ORDER BY chain_id
    ON CONFLICT (chain_id) DO UPDATE SET
      repeat_sum = s.repeat_sum + excluded.repeat_sum, repeat_count = s.repeat_count + excluded.repeat_count,
      one_off_sum = s.one_off_sum + excluded.one_off_sum, one_off_count = s.one_off_count + excluded.one_off_count;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER sum_inserted AFTER INSERT ON market.review_ranks REFERENCING NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.sum_ranks();
CREATE TRIGGER sum_updated AFTER UPDATE ON market.review_ranks REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.sum_ranks();
CREATE TRIGGER sum_deleted AFTER DELETE ON market.review_ranks REFERENCING OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION market.sum_ranks();
