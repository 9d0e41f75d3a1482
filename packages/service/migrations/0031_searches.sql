-- expand: what buyers say that they searched for before they bought

-- The words of it that count, each once for every owner who searched by it, three times at most.
ALTER TABLE market.listings ADD COLUMN searches text NOT NULL DEFAULT '';

-- The reviews of purchases that say what their buyer searched for. Derived: the followers keep it.
CREATE TABLE market.searched_words (
  internal_id   bigint      PRIMARY KEY,
  chain_id      bigint      NOT NULL,
  merchant_id   bigint      NOT NULL,
  product_id    bytea       NOT NULL,
  agent_id      bigint      NOT NULL,
  -- Who bought, and owned the author when the review was published.
  owner         bytea       NOT NULL,
  -- The payment of the purchase.
  contract      bytea       NOT NULL,
  payer         bytea       NOT NULL,
  nonce         bytea       NOT NULL,
  published_at  timestamptz NOT NULL,
  review_id     bigint      NOT NULL,
  -- Of the publication, in UTC: 12 × year + month, January is 0.
  month         integer     NOT NULL,
  -- Separated by spaces.
  words         text        NOT NULL,
  -- Whether it is one of the first of its owner in its month; the others are not heard.
  counts        boolean     NOT NULL,
  -- Of one that counts: whether its owner has the standing that it needs, and the pass that said so. Null: standings are off; 0: none.
  is_trusted    boolean,
  standing_pass bigint      NOT NULL
);
CREATE INDEX searched_words_of_product ON market.searched_words (chain_id, merchant_id, product_id, published_at DESC, review_id DESC)
  WHERE counts AND is_trusted IS NOT FALSE;
CREATE INDEX searched_words_of_month ON market.searched_words (chain_id, owner, month, published_at, review_id);
CREATE INDEX searched_words_that_count ON market.searched_words (chain_id, owner, month) WHERE counts;
CREATE INDEX searched_words_of_agent ON market.searched_words (chain_id, agent_id) WHERE counts;
CREATE INDEX searched_words_of_payment ON market.searched_words (chain_id, payer, nonce);
CREATE INDEX searched_words_by_pass ON market.searched_words (chain_id, standing_pass, internal_id) WHERE counts;

-- A text that takes the place of another is a change of its review, too, although the rating is the same: it may say something else.
CREATE OR REPLACE FUNCTION market.mark_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.pending_changes (chain_id, what, subject)
  SELECT chain_id, 'review', internal_id
  FROM (
    SELECT chain_id, internal_id, CASE WHEN content IS NOT NULL THEN content_hash END, content IS NULL, satisfaction_score,
      comparison_outcome, author_owner, opinion_size, opinion_weight FROM after
    EXCEPT
    SELECT chain_id, internal_id, CASE WHEN content IS NOT NULL THEN content_hash END, content IS NULL, satisfaction_score,
      comparison_outcome, author_owner, opinion_size, opinion_weight FROM before
  ) AS changed;
  RETURN NULL;
END $$;
