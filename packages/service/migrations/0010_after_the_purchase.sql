-- What follows a purchase: votes, opinions of buyers, what the oracle finds and decides, and the ranks that come of it. All shares and
-- weights are whole millionths: sums of them are exact in whatever order they are made.

-- ---- what triggers do with the rows of a statement

-- A statement may change one row or a hundred thousand, and a function keeps the plan that it made for the first it saw: where the old rows
-- were joined to the new ones, one by one, an update of many took the square of their number. The difference of two sets never does.
CREATE OR REPLACE FUNCTION market.count_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.counts AS c (chain_id, what, count)
  SELECT n.chain_id, 'published reviews', sum(CASE WHEN n.is_gone THEN -1 ELSE 1 END)
  FROM (
    SELECT chain_id, internal_id, content IS NULL AS is_gone FROM after
    EXCEPT SELECT chain_id, internal_id, content IS NULL FROM before
  ) AS n
  WHERE EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY n.chain_id ORDER BY n.chain_id
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION market.place_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.places AS p (chain_id, what, stretch, count)
  SELECT n.chain_id, 'published reviews', internal_id / 1000, sum(CASE WHEN n.is_gone THEN -1 ELSE 1 END)
  FROM (
    SELECT chain_id, internal_id, content IS NULL AS is_gone FROM after
    EXCEPT SELECT chain_id, internal_id, content IS NULL FROM before
  ) AS n
  WHERE EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY 1, 3 ORDER BY 1, 3
  ON CONFLICT (chain_id, what, stretch) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION market.note_changed_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.review_changes
  SELECT WHERE EXISTS (
    SELECT internal_id, content, satisfaction_score, comparison_outcome, ref_token FROM before WHERE content IS NOT NULL
    EXCEPT SELECT internal_id, content, satisfaction_score, comparison_outcome, ref_token FROM after);
  RETURN NULL;
END $$;

-- ---- votes

-- Nobody has voted yet. A ballot names its purchase by the payer and the nonce of the payment: a reorganisation can give the number of an
-- escrow to another purchase, but never these.
DROP TABLE market.votes;

-- The votes of a purchase, cast all at once and once only, with the signature that stands for them.
CREATE TABLE market.ballots (
  ballot_id        bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id         bigint      NOT NULL,
  contract         bytea       NOT NULL,
  payer            bytea       NOT NULL,
  nonce            bytea       NOT NULL,
  -- Its number when the votes were cast.
  escrow_id        bigint      NOT NULL,
  voter_agent_id   bigint      NOT NULL,
  votes_hash       bytea       NOT NULL,
  commitment_nonce bytea       NOT NULL,
  expiry           bigint      NOT NULL,
  signature        bytea       NOT NULL,
  cast_at          timestamptz NOT NULL,
  UNIQUE (chain_id, payer, nonce, contract)
);

CREATE TABLE market.votes (
  ballot_id          bigint      NOT NULL REFERENCES market.ballots,
  review_internal_id bigint      NOT NULL REFERENCES market.reviews,
  -- In the order they were sent, from 1.
  position           smallint    NOT NULL,
  reasoning          text        NOT NULL,
  chain_id           bigint      NOT NULL,
  voter_agent_id     bigint      NOT NULL,
  author_agent_id    bigint      NOT NULL,
  -- Who owned the voter at that moment.
  voter_owner        bytea       NOT NULL,
  -- Not when the voter's owner was the author's: such a vote is kept and counts for nothing.
  qualifies          boolean     NOT NULL,
  -- What it is worth to the author, from what the voter's rank and the purchase were at that moment; 0: nothing.
  weight             integer     NOT NULL CHECK (weight BETWEEN 0 AND 1000000),
  cast_at            timestamptz NOT NULL,
  PRIMARY KEY (ballot_id, review_internal_id)
);
CREATE INDEX votes_of_agent ON market.votes (chain_id, voter_agent_id);
CREATE INDEX votes_on_review ON market.votes (review_internal_id);
CREATE INDEX votes_of_pair
  ON market.votes (chain_id, author_agent_id, voter_owner, cast_at DESC, ballot_id DESC, review_internal_id DESC) WHERE weight > 0;

-- ---- reviews

ALTER TABLE market.reviews
  -- Who owned the author when the review was published: what comes of a review belongs to that owner.
  ADD COLUMN author_owner   bytea,
  -- Of a buyer's review, from when its text was first taken: the size of the purchase, and what the opinion is worth to the product.
  ADD COLUMN opinion_size   integer CHECK (opinion_size BETWEEN 0 AND 1000000),
  ADD COLUMN opinion_weight integer CHECK (opinion_weight BETWEEN 0 AND 1000000);
UPDATE market.reviews AS m SET author_owner = i.owner
FROM chain.identities AS i WHERE (i.chain_id, i.agent_id) = (m.chain_id, m.agent_id);
CREATE INDEX reviews_of_owner ON market.reviews (chain_id, merchant_id, product_id, author_owner)
  WHERE opinion_size IS NOT NULL AND content IS NOT NULL;

-- ---- what is to be looked at again

-- Whoever changes what ranks and decisions rest on leaves a mark, in the same transaction; a worker takes the marks and looks. Only
-- inserted and deleted, so that nobody waits for anybody.
CREATE TABLE market.marks (
  id          bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id    bigint NOT NULL,
  what        text   NOT NULL CHECK (what IN ('review', 'ballot', 'purchase', 'agent', 'flag', 'product', 'merchant')),
  -- Of a review or a ballot: the number of its record. Of an agent, its flag or a merchant: its id. Of others: null.
  subject     bigint,
  contract    bytea,
  payer       bytea,
  nonce       bytea,
  merchant_id bigint,
  product_id  bytea
);
CREATE INDEX marks_of_chain ON market.marks (chain_id, id);

CREATE FUNCTION market.mark_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject) SELECT chain_id, 'review', internal_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_reviews_of_chain();
CREATE TRIGGER mark_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_reviews_of_chain();

CREATE FUNCTION market.mark_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject)
  SELECT chain_id, 'review', internal_id
  FROM (
    SELECT chain_id, internal_id, content IS NULL, satisfaction_score, comparison_outcome, author_owner, opinion_size, opinion_weight FROM after
    EXCEPT
    SELECT chain_id, internal_id, content IS NULL, satisfaction_score, comparison_outcome, author_owner, opinion_size, opinion_weight FROM before
  ) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_reviews();

CREATE FUNCTION market.mark_ballots() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject) SELECT chain_id, 'ballot', ballot_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON market.ballots REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_ballots();

CREATE FUNCTION market.mark_purchases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, contract, payer, nonce, merchant_id, product_id)
  SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_purchases();
CREATE TRIGGER mark_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_purchases();

CREATE FUNCTION market.mark_changed_purchases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, contract, payer, nonce, merchant_id, product_id)
  SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id
  FROM (
    SELECT chain_id, contract, payer, nonce, merchant_id, product_id, buyer_agent_id, cashback_released_at IS NULL, settled_at IS NULL FROM after
    EXCEPT
    SELECT chain_id, contract, payer, nonce, merchant_id, product_id, buyer_agent_id, cashback_released_at IS NULL, settled_at IS NULL FROM before
  ) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON chain.escrows REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_changed_purchases();

CREATE FUNCTION market.mark_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject) SELECT chain_id, 'agent', agent_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON chain.identities REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_agents();
CREATE TRIGGER mark_deleted AFTER DELETE ON chain.identities REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_agents();

CREATE FUNCTION market.mark_transferred_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject)
  SELECT chain_id, 'agent', agent_id
  FROM (SELECT chain_id, agent_id, owner FROM after EXCEPT SELECT chain_id, agent_id, owner FROM before) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON chain.identities REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_transferred_agents();

CREATE FUNCTION market.mark_flagged_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject)
  SELECT chain_id, unnest(ARRAY['agent', 'flag']), agent_id
  FROM (SELECT chain_id, agent_id, flagged FROM after EXCEPT SELECT chain_id, agent_id, flagged FROM before) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON market.agents REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_flagged_agents();

CREATE FUNCTION market.mark_products() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
  SELECT chain_id, 'product', merchant_id, product_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON market.products REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_products();

CREATE FUNCTION market.mark_merchants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, subject) SELECT chain_id, 'merchant', merchant_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_inserted AFTER INSERT ON market.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();

-- What was bought before: with the products.
INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
SELECT chain_id, 'product', merchant_id, product_id FROM market.products;

-- ---- ranks: what the worker alone writes, and could make again from the rest

-- What an agent's rank rests on, each piece with what it was worth on its day.
CREATE TABLE market.rank_evidence (
  chain_id           bigint      NOT NULL,
  review_internal_id bigint      NOT NULL,
  -- Of a vote; empty: the oracle's finding.
  voter_owner        bytea       NOT NULL,
  agent_id           bigint      NOT NULL,
  -- Under whom the agent earned it.
  owner              bytea       NOT NULL,
  -- 0 repeat, 1 one-off
  product_type       smallint    NOT NULL,
  kind               text        NOT NULL CHECK (kind IN ('vote', 'confirmed', 'contradicted')),
  voter_agent_id     bigint,
  -- The ballot, or the finding.
  source             bigint      NOT NULL,
  weight             integer     NOT NULL,
  happened_at        timestamptz NOT NULL,
  -- Since 1970, UTC.
  day                integer     NOT NULL,
  PRIMARY KEY (chain_id, review_internal_id, voter_owner)
);
CREATE INDEX rank_evidence_of_agent
  ON market.rank_evidence (chain_id, agent_id, owner, product_type, happened_at DESC, review_internal_id DESC, voter_owner);
CREATE INDEX rank_evidence_of_voter ON market.rank_evidence (chain_id, agent_id, voter_owner);

-- Their sums, each piece inflated by two for every half-life since 1970: old evidence fades without being touched.
CREATE TABLE market.rank_totals (
  chain_id     bigint   NOT NULL,
  agent_id     bigint   NOT NULL,
  owner        bytea    NOT NULL,
  product_type smallint NOT NULL,
  gain         numeric  NOT NULL,
  loss         numeric  NOT NULL,
  -- How many there are.
  pieces       integer  NOT NULL,
  PRIMARY KEY (chain_id, agent_id, owner, product_type)
);

-- Published reviews, and flagged agents, as the ranks last saw them: only when one of these changes are all votes on the review, or of
-- the agent, looked at again.
CREATE TABLE market.ranked_reviews (
  internal_id  bigint   PRIMARY KEY,
  chain_id     bigint   NOT NULL,
  owner        bytea    NOT NULL,
  product_type smallint NOT NULL
);
INSERT INTO market.ranked_reviews
SELECT internal_id, m.chain_id, m.author_owner, p.product_type
FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
JOIN chain.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (m.chain_id, m.merchant_id, m.product_id)
WHERE m.content IS NOT NULL AND m.author_owner IS NOT NULL;

CREATE TABLE market.unheard_voters (
  chain_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  PRIMARY KEY (chain_id, agent_id)
);
INSERT INTO market.unheard_voters SELECT chain_id, agent_id FROM market.agents WHERE flagged;

-- The day that a rank was computed for: evidence fades with every day.
ALTER TABLE market.review_ranks ADD COLUMN day integer NOT NULL DEFAULT 0;
CREATE INDEX review_ranks_by_day ON market.review_ranks (chain_id, day, agent_id);

-- One opinion of a product for each owner: the newest review of a purchase.
CREATE TABLE market.opinions (
  chain_id     bigint      NOT NULL,
  merchant_id  bigint      NOT NULL,
  product_id   bytea       NOT NULL,
  owner        bytea       NOT NULL,
  internal_id  bigint      NOT NULL,
  -- Where it was on the chain: after all others of this owner.
  published_at timestamptz NOT NULL,
  review_id    bigint      NOT NULL,
  satisfaction integer     NOT NULL,
  size         integer     NOT NULL,
  weight       integer     NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id, owner)
);
CREATE INDEX opinions_by_review ON market.opinions (internal_id);

CREATE TABLE market.product_totals (
  chain_id    bigint  NOT NULL,
  merchant_id bigint  NOT NULL,
  product_id  bytea   NOT NULL,
  -- How many opinions, the sum of their weights, and of weight × satisfaction.
  opinions    integer NOT NULL DEFAULT 0,
  weight      bigint  NOT NULL DEFAULT 0,
  weighted    numeric NOT NULL DEFAULT 0,
  -- As they are in the merchant's totals.
  conversions bigint  NOT NULL DEFAULT 0,
  rank        integer NOT NULL,
  day         integer NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id)
);
CREATE INDEX product_totals_by_day ON market.product_totals (chain_id, day, merchant_id, product_id);

-- Over the products of a merchant that were bought: how often, and the sum of conversions × rank.
CREATE TABLE market.merchant_totals (
  chain_id    bigint  NOT NULL,
  merchant_id bigint  NOT NULL,
  conversions bigint  NOT NULL,
  weighted    numeric NOT NULL,
  PRIMARY KEY (chain_id, merchant_id)
);

-- Over all opinions of a chain, and the mean that products begin from on the present day.
CREATE TABLE market.opinion_totals (
  chain_id bigint  PRIMARY KEY,
  weight   bigint  NOT NULL,
  weighted numeric NOT NULL,
  day      integer NOT NULL,
  mean     integer NOT NULL
);

-- How often a product was bought; kept by the indexer, in the transaction that changes it.
CREATE TABLE market.product_sales (
  chain_id    bigint NOT NULL,
  merchant_id bigint NOT NULL,
  product_id  bytea  NOT NULL,
  conversions bigint NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id)
) WITH (fillfactor = 70);

CREATE FUNCTION market.count_sales() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.product_sales AS s
  SELECT chain_id, merchant_id, product_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET conversions = s.conversions + excluded.conversions;
  RETURN NULL;
END $$;
CREATE TRIGGER sales_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_sales();
CREATE TRIGGER sales_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_sales();
INSERT INTO market.product_sales
SELECT chain_id, merchant_id, product_id, count(*) FROM chain.escrows GROUP BY 1, 2, 3;

-- ---- the oracle

-- What the buyers of a product thought of it when its reviews were last compared with them.
CREATE TABLE market.comparisons (
  comparison_id bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id      bigint      NOT NULL,
  merchant_id   bigint      NOT NULL,
  product_id    bytea       NOT NULL,
  made_at       timestamptz NOT NULL,
  -- Of all opinions: how many, and the sums of size, of weight, and of weight × satisfaction.
  opinions      integer     NOT NULL,
  size          bigint      NOT NULL,
  weight        bigint      NOT NULL,
  weighted      numeric     NOT NULL,
  -- Set when one of its opinions has left the chain, or its author was flagged: nothing rests on it any more.
  voided_at     timestamptz
);
-- The newest counts, unless it is void.
CREATE INDEX comparisons_of_product ON market.comparisons (chain_id, merchant_id, product_id, comparison_id DESC);

-- Products whose reviews are being compared again, and how far that is.
CREATE TABLE market.comparisons_under_way (
  chain_id    bigint NOT NULL,
  merchant_id bigint NOT NULL,
  product_id  bytea  NOT NULL,
  -- The last review that was looked at, by its record.
  after       bigint NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id)
);

CREATE TABLE market.comparison_inputs (
  comparison_id bigint  NOT NULL REFERENCES market.comparisons,
  owner         bytea   NOT NULL,
  internal_id   bigint  NOT NULL,
  satisfaction  integer NOT NULL,
  size          integer NOT NULL,
  weight        integer NOT NULL,
  PRIMARY KEY (comparison_id, owner)
);
CREATE INDEX comparison_inputs_by_review ON market.comparison_inputs (internal_id);

-- What the oracle found of a review, each time that this changed.
CREATE TABLE market.findings (
  finding_id      bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id        bigint      NOT NULL,
  internal_id     bigint      NOT NULL REFERENCES market.reviews,
  agent_id        bigint      NOT NULL,
  -- `pending`: what was found before rests on nothing any more.
  outcome         text        NOT NULL CHECK (outcome IN ('pending', 'confirmed', 'contradicted')),
  -- Null with `pending`.
  comparison_id   bigint      REFERENCES market.comparisons,
  satisfaction    integer     NOT NULL,
  -- Of the opinions of others than the author's owner: how many, the sums of weight and of weight × satisfaction, and the mean of size.
  others          integer     NOT NULL,
  others_weight   bigint      NOT NULL,
  others_weighted numeric     NOT NULL,
  size            integer     NOT NULL,
  found_at        timestamptz NOT NULL
);
CREATE INDEX findings_of_review ON market.findings (internal_id, finding_id DESC);
CREATE INDEX findings_of_agent ON market.findings (chain_id, agent_id, outcome, finding_id DESC);

-- An author's word against a contradiction.
CREATE TABLE market.disputes (
  internal_id bigint      PRIMARY KEY REFERENCES market.reviews,
  opened_at   timestamptz NOT NULL,
  opened_by   bytea       NOT NULL,
  reason      text        NOT NULL
);
-- Whether the contradiction stands although it was disputed.
ALTER TABLE market.dispute_decisions ADD COLUMN upheld boolean NOT NULL DEFAULT false;

-- What the oracle has decided to do with an escrow, from what, and by which transaction. A further attempt comes after one that failed.
CREATE TABLE market.escrow_decisions (
  chain_id        bigint      NOT NULL,
  contract        bytea       NOT NULL,
  payer           bytea       NOT NULL,
  nonce           bytea       NOT NULL,
  kind            text        NOT NULL CHECK (kind IN ('release', 'settle')),
  attempt         integer     NOT NULL,
  escrow_id       bigint      NOT NULL,
  contradicted    boolean     NOT NULL,
  cashback_earned boolean     NOT NULL,
  -- What it was decided from, so that anybody can decide it again.
  inputs          jsonb       NOT NULL,
  decided_at      timestamptz NOT NULL,
  transaction_id  bigint      NOT NULL,
  -- Until the chain shows what came of it.
  is_open         boolean     NOT NULL DEFAULT true,
  PRIMARY KEY (chain_id, payer, nonce, contract, kind, attempt)
);
CREATE INDEX escrow_decisions_open ON market.escrow_decisions (chain_id, kind, payer, nonce, contract, attempt) WHERE is_open;

-- Whose cashback can still be released; a slow walk looks for what nobody announced.
CREATE INDEX escrows_to_release ON chain.escrows (chain_id, escrow_id, contract)
  WHERE buyer_agent_id IS NOT NULL AND cashback > 0 AND cashback_released_at IS NULL AND settled_at IS NULL;
-- Read in pages: what ends at the same moment needs an order of its own.
DROP INDEX chain.escrows_to_settle;
CREATE INDEX escrows_to_settle ON chain.escrows (chain_id, window_end, escrow_id, contract) WHERE settled_at IS NULL;
