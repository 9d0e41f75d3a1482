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

-- Whether a merchant is open decides about all of its products.
CREATE TRIGGER mark_inserted AFTER INSERT ON chain.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();
CREATE TRIGGER mark_updated AFTER UPDATE ON chain.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();
CREATE TRIGGER mark_deleted AFTER DELETE ON chain.merchants REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_merchants();

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
CREATE INDEX listings_by_change ON market.listings (changed_in);

-- ---- vectors

-- Models that texts were ever embedded with. One that is ready has embedded all there were when it came.
CREATE TABLE market.embedders (
  embedder_id text        PRIMARY KEY,
  dims        integer     NOT NULL CHECK (dims > 0),
  added_at    timestamptz NOT NULL DEFAULT now(),
  ready_at    timestamptz
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

-- Texts that a model has yet to embed.
CREATE TABLE market.texts_to_embed (
  id          bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  embedder_id text        NOT NULL REFERENCES market.embedders,
  -- Of a review; null: a product.
  internal_id bigint,
  chain_id    bigint,
  merchant_id bigint,
  product_id  bytea,
  attempts    integer     NOT NULL DEFAULT 0,
  due_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX texts_to_embed_due ON market.texts_to_embed (embedder_id, due_at, id);

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
  -- In base units; null: no offer was seen at this endpoint.
  price        bigint      CHECK (price >= 0),
  seen_at      timestamptz,
  asked_at     timestamptz,
  -- In a row.
  failures     integer     NOT NULL DEFAULT 0,
  ask_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, merchant_id, product_id)
);
CREATE INDEX offers_due ON market.offers (ask_at);

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
