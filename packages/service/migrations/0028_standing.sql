-- expand: standings of owners and shops, and the money that supports ranks

-- ---- the ground: shops that the operator has verified

-- Decisions, never changed: the newest one of a shop holds, as long as the shop belongs to the owner it had then.
CREATE TABLE market.shop_verifications (
  verification_id bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id        bigint      NOT NULL,
  merchant_id     bigint      NOT NULL,
  owner           bytea       NOT NULL,
  is_verified     boolean     NOT NULL,
  -- For everybody to read.
  note            text        NOT NULL,
  decided_by      bytea       NOT NULL,
  decided_at      timestamptz NOT NULL
);
CREATE INDEX shop_verifications_of_shop ON market.shop_verifications (chain_id, merchant_id, verification_id DESC);

-- ---- standings

-- Each computation of the standings of a chain: once a day, and after each verification. Only the results of the last one are kept.
CREATE TABLE market.standing_passes (
  chain_id        bigint      NOT NULL,
  pass            bigint      NOT NULL,
  day             integer     NOT NULL,
  -- What it rests on: the purchases up to this block, and the verifications up to this one.
  as_of_block     bigint      NOT NULL,
  verification_id bigint      NOT NULL,
  -- How many there are. Without a verified shop nothing is computed, and everything counts in full.
  verified        integer     NOT NULL,
  owners          integer     NOT NULL,
  shops           integer     NOT NULL,
  computed_at     timestamptz NOT NULL,
  took_ms         integer     NOT NULL,
  PRIMARY KEY (chain_id, pass)
);

-- In millionths.
CREATE TABLE market.owner_standings (
  chain_id bigint  NOT NULL,
  owner    bytea   NOT NULL,
  standing integer NOT NULL CHECK (standing BETWEEN 0 AND 1000000),
  PRIMARY KEY (chain_id, owner)
);
CREATE TABLE market.shop_standings (
  chain_id    bigint  NOT NULL,
  merchant_id bigint  NOT NULL,
  standing    integer NOT NULL CHECK (standing BETWEEN 0 AND 1000000),
  is_verified boolean NOT NULL,
  -- What its customers spent there, in base units of the day of the pass, and how many they are.
  revenue     bigint  NOT NULL DEFAULT 0,
  customers   integer NOT NULL DEFAULT 0,
  PRIMARY KEY (chain_id, merchant_id)
);

-- ---- what they rest on

-- Purchases as they were last counted, so that one which changes or goes is taken out again.
CREATE TABLE market.counted_purchases (
  chain_id       bigint  NOT NULL,
  contract       bytea   NOT NULL,
  payer          bytea   NOT NULL,
  nonce          bytea   NOT NULL,
  -- The review whose link was followed, by its id on the chain, and the product's commission when the purchase was first counted.
  review_id      bigint  NOT NULL,
  commission_bps integer NOT NULL,
  day            integer NOT NULL,
  merchant_id    bigint  NOT NULL,
  -- The spending of an owner at the shop; 0 at a shop of its own.
  owner          bytea   NOT NULL,
  spent          bigint  NOT NULL,
  -- The author whose link was used, with the owner it had at publication; null: the review is unknown.
  agent_id       bigint,
  author_owner   bytea,
  -- Who owned that author when it sold: the sales are its.
  seller         bytea,
  -- The commission as it would be at rank 1, and the half of the money that speaks for the author if the buyer agrees.
  sales          numeric NOT NULL,
  support_paid   numeric NOT NULL,
  support_spent  numeric NOT NULL,
  PRIMARY KEY (chain_id, payer, nonce, contract)
);
CREATE INDEX counted_purchases_of_review ON market.counted_purchases (chain_id, review_id);
-- The id on the chain that a review had when the ranks last saw it: its purchases are found by it.
ALTER TABLE market.ranked_reviews ADD COLUMN review_id bigint;
UPDATE market.ranked_reviews AS r SET review_id = c.review_id FROM chain.reviews AS c WHERE c.internal_id = r.internal_id;

-- Votes as the money that speaks for their author was last counted.
CREATE TABLE market.counted_votes (
  ballot_id          bigint  NOT NULL,
  review_internal_id bigint  NOT NULL,
  chain_id           bigint  NOT NULL,
  day                integer NOT NULL,
  merchant_id        bigint  NOT NULL,
  agent_id           bigint  NOT NULL,
  author_owner       bytea   NOT NULL,
  support_paid       numeric NOT NULL,
  support_spent      numeric NOT NULL,
  PRIMARY KEY (ballot_id, review_internal_id)
);
CREATE INDEX counted_votes_of_chain ON market.counted_votes (chain_id);

-- The money of an author at each shop, by the owner it had: its sales, and what its supporters paid and spent there. Inflated as the totals
-- of ranks are. `paid` counts if the shop is verified, otherwise `spent` by the standing of the shop.
CREATE TABLE market.author_money (
  chain_id    bigint  NOT NULL,
  agent_id    bigint  NOT NULL,
  owner       bytea   NOT NULL,
  merchant_id bigint  NOT NULL,
  sales       numeric NOT NULL,
  paid        numeric NOT NULL,
  spent       numeric NOT NULL,
  PRIMARY KEY (chain_id, agent_id, owner, merchant_id)
);

-- What each owner spent at each shop that is not its own, inflated as the totals of ranks are.
CREATE TABLE market.spent_at_shops (
  chain_id    bigint  NOT NULL,
  owner       bytea   NOT NULL,
  merchant_id bigint  NOT NULL,
  spent       numeric NOT NULL,
  PRIMARY KEY (chain_id, owner, merchant_id)
);
-- The largest customers of a shop come first.
CREATE INDEX spent_at_shop ON market.spent_at_shops (chain_id, merchant_id, spent DESC);

-- ---- what ranks make of it

-- Null in all of them: from before there were standings.
ALTER TABLE market.votes
  -- Whether the money of the purchase speaks for the author; null: if the vote has a weight.
  ADD COLUMN supports       boolean,
  -- When it was cast; null: no shop was verified or, of the owner, it had bought nothing before.
  ADD COLUMN voter_standing integer,
  ADD COLUMN shop_standing  integer;
-- Whether the buyer agreed with the review whose link it followed, when it said so; null: from before it was stored.
ALTER TABLE market.reviews ADD COLUMN opinion_agrees boolean;

-- The standings that the rank was computed with; 0: none.
ALTER TABLE market.review_ranks ADD COLUMN standing_pass bigint NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS review_ranks_by_pass ON market.review_ranks (chain_id, standing_pass, agent_id);

-- The purchases and votes of before are counted by the followers.
INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id FROM chain.escrows;
INSERT INTO market.pending_changes (chain_id, what, subject) SELECT chain_id, 'ballot', ballot_id FROM market.ballots;
