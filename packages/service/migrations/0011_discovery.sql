-- What discovery reads: what the reviews of a product say, vectors of texts, and the price last seen. All of it is derived: from the
-- records, from texts by a model, and from the products' own endpoints.

-- ---- what is to be looked at again

-- `listing`: something that discovery shows of a product has changed, and nothing that ranks rest on.
ALTER TABLE market.marks DROP CONSTRAINT marks_what_check;
ALTER TABLE market.marks ADD CONSTRAINT marks_what_check
  CHECK (what IN ('review', 'ballot', 'purchase', 'agent', 'flag', 'product', 'merchant', 'listing'));

-- Inserted products leave a mark `product` already.
CREATE FUNCTION market.mark_described_products() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
  SELECT chain_id, 'listing', merchant_id, product_id
  FROM (
    SELECT chain_id, merchant_id, product_id, name, category, description, endpoint_url, rank FROM after
    EXCEPT
    SELECT chain_id, merchant_id, product_id, name, category, description, endpoint_url, rank FROM before
  ) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON market.products REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_described_products();

CREATE FUNCTION market.mark_listings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
  SELECT chain_id, 'listing', merchant_id, product_id FROM changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_deleted AFTER DELETE ON market.products REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_listings();
CREATE TRIGGER mark_listing_inserted AFTER INSERT ON chain.products REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_listings();
CREATE TRIGGER mark_listing_deleted AFTER DELETE ON chain.products REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_listings();
CREATE TRIGGER mark_listing_updated AFTER UPDATE ON chain.products REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_listings();

-- A text that takes the place of another, with the same rating.
CREATE FUNCTION market.mark_rewritten_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
  SELECT DISTINCT chain_id, 'listing', merchant_id, product_id
  FROM (
    SELECT chain_id, merchant_id, product_id, internal_id, content_hash FROM before WHERE content IS NOT NULL
    EXCEPT
    SELECT chain_id, merchant_id, product_id, internal_id, content_hash FROM after
  ) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_rewritten AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_rewritten_reviews();

-- Whether a merchant is open decides about all of its products.
CREATE TRIGGER mark_inserted AFTER INSERT ON chain.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();
CREATE TRIGGER mark_updated AFTER UPDATE ON chain.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();
CREATE TRIGGER mark_deleted AFTER DELETE ON chain.merchants REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();

-- ---- reviews of a product

-- How many of a product's reviews are published. Kept as those of a chain are, in the transaction that changes it and after the count of
-- the chain, whose trigger has the records locked by then.
CREATE TABLE market.product_reviews (
  chain_id    bigint NOT NULL,
  merchant_id bigint NOT NULL,
  product_id  bytea  NOT NULL,
  count       bigint NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id)
) WITH (fillfactor = 70);

CREATE FUNCTION market.count_product_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.product_reviews AS p (chain_id, merchant_id, product_id, count)
  SELECT r.chain_id, r.merchant_id, r.product_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER product_count_inserted AFTER INSERT ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_product_reviews_of_chain();
CREATE TRIGGER product_count_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_product_reviews_of_chain();

CREATE FUNCTION market.count_product_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.product_reviews AS p (chain_id, merchant_id, product_id, count)
  SELECT n.chain_id, n.merchant_id, n.product_id, sum(CASE WHEN n.is_gone THEN -1 ELSE 1 END)
  FROM (
    SELECT chain_id, merchant_id, product_id, internal_id, content IS NULL AS is_gone FROM after
    EXCEPT SELECT chain_id, merchant_id, product_id, internal_id, content IS NULL FROM before
  ) AS n
  WHERE EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER product_count_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_product_reviews_with_text();

INSERT INTO market.product_reviews
SELECT m.chain_id, m.merchant_id, m.product_id, count(*)
FROM chain.reviews JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NOT NULL GROUP BY 1, 2, 3;

-- ---- listings

-- A product as discovery sees it, beside its description: kept by the worker that follows the marks.
CREATE TABLE market.listings (
  chain_id     bigint   NOT NULL,
  merchant_id  bigint   NOT NULL,
  product_id   bytea    NOT NULL,
  -- On sale, by a merchant that is open.
  is_open      boolean  NOT NULL,
  -- Published reviews.
  review_count integer  NOT NULL,
  -- Records of the reviews that may be shown: all, or of many the newest, those of the best authors, and all that are excluded.
  shortlist    bigint[] NOT NULL,
  -- What its reviews say, as words, each as often as it shall count.
  evidence     text     NOT NULL,
  -- The transaction that last changed what discovery reads of the product, here or in another table.
  changed_in   xid8     NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (chain_id, merchant_id, product_id)
);
CREATE INDEX listings_by_change ON market.listings (changed_in, chain_id, merchant_id, product_id);

-- ---- vectors

-- Models that texts are embedded with. One that is ready has embedded all there were when it came.
CREATE TABLE market.embedders (
  embedder_id text        PRIMARY KEY,
  dims        integer     NOT NULL CHECK (dims > 0),
  added_at    timestamptz NOT NULL DEFAULT now(),
  ready_at    timestamptz,
  -- When a replica last said that it needs it. What nobody needs any more is deleted with all of its vectors.
  used_at     timestamptz NOT NULL DEFAULT now()
);

-- One signed byte for each dimension, scaled by the largest.
CREATE TABLE market.product_vectors (
  embedder_id text   NOT NULL REFERENCES market.embedders,
  chain_id    bigint NOT NULL,
  merchant_id bigint NOT NULL,
  product_id  bytea  NOT NULL,
  -- SHA-256 of the text.
  text_hash   bytea  NOT NULL,
  vector      bytea  NOT NULL,
  PRIMARY KEY (embedder_id, chain_id, merchant_id, product_id)
);
CREATE TABLE market.review_vectors (
  embedder_id text   NOT NULL REFERENCES market.embedders,
  internal_id bigint NOT NULL,
  text_hash   bytea  NOT NULL,
  vector      bytea  NOT NULL,
  PRIMARY KEY (embedder_id, internal_id)
);

-- Texts that a model has yet to embed, each once: a text that changes while it is embedded changes its row, which then stays.
CREATE TABLE market.texts_to_embed (
  id          bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  embedder_id text        NOT NULL REFERENCES market.embedders,
  -- Of a review; null: a product.
  internal_id bigint,
  chain_id    bigint,
  merchant_id bigint,
  product_id  bytea,
  text_hash   bytea       NOT NULL,
  attempts    integer     NOT NULL DEFAULT 0,
  due_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX texts_to_embed_due ON market.texts_to_embed (embedder_id, due_at, id);
CREATE UNIQUE INDEX texts_to_embed_of_product ON market.texts_to_embed (embedder_id, chain_id, merchant_id, product_id)
  WHERE internal_id IS NULL;
CREATE UNIQUE INDEX texts_to_embed_of_review ON market.texts_to_embed (embedder_id, internal_id) WHERE internal_id IS NOT NULL;

-- Where the vectors of a chain lie: points around which they are grouped, so that a search looks at a few groups only. Kept so that all
-- replicas group alike; chosen anew when there are twice as many vectors.
CREATE TABLE market.vector_cells (
  chain_id    bigint      NOT NULL,
  embedder_id text        NOT NULL REFERENCES market.embedders,
  vectors     integer     NOT NULL,
  points      bytea       NOT NULL,
  chosen_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, embedder_id)
);

-- ---- offers

-- What a product's endpoint asked for when it was last asked.
CREATE TABLE market.offers (
  chain_id     bigint      NOT NULL,
  merchant_id  bigint      NOT NULL,
  product_id   bytea       NOT NULL,
  endpoint_url text        NOT NULL,
  -- With its port. One that sells much is asked one thing at a time.
  host         text        NOT NULL GENERATED ALWAYS AS (
    coalesce(lower(substring(endpoint_url FROM '^[^:]+://([^/?#]*)')), '')) STORED,
  -- In base units; null: no offer was seen at this endpoint.
  price        bigint      CHECK (price >= 0),
  seen_at      timestamptz,
  asked_at     timestamptz,
  -- In a row.
  failures     integer     NOT NULL DEFAULT 0,
  -- Never within an hour of `asked_at`; infinity: while the product is closed.
  ask_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, merchant_id, product_id)
);
CREATE INDEX offers_due ON market.offers (ask_at) INCLUDE (host, chain_id);
CREATE INDEX offers_of_host ON market.offers (host, ask_at);

CREATE FUNCTION market.mark_offers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
  SELECT chain_id, 'listing', merchant_id, product_id
  FROM (
    SELECT chain_id, merchant_id, product_id, price FROM after EXCEPT SELECT chain_id, merchant_id, product_id, price FROM before
  ) AS changed;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_updated AFTER UPDATE ON market.offers REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_offers();

-- What there is already.
INSERT INTO market.marks (chain_id, what, merchant_id, product_id)
SELECT chain_id, 'listing', merchant_id, product_id FROM market.products;
