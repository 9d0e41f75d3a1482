-- Counts and sums for pages that everybody may open. They are kept with every change, in the transaction that makes it, so that a page
-- about a product with a million purchases costs as much as one about a product with two.

-- ---- reviews

-- How many published reviews an agent has. Kept as those of a product are: the names of these triggers come after the ones that lock.
CREATE TABLE market.agent_reviews (
  chain_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  count    bigint NOT NULL,
  PRIMARY KEY (chain_id, agent_id)
) WITH (fillfactor = 70);

CREATE FUNCTION market.count_agent_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.agent_reviews AS a (chain_id, agent_id, count)
  SELECT r.chain_id, r.agent_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET count = a.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER reviewer_count_inserted AFTER INSERT ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_agent_reviews_of_chain();
CREATE TRIGGER reviewer_count_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_agent_reviews_of_chain();

CREATE FUNCTION market.count_agent_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.agent_reviews AS a (chain_id, agent_id, count)
  SELECT n.chain_id, n.agent_id, sum(CASE WHEN n.is_gone THEN -1 ELSE 1 END)
  FROM (
    SELECT chain_id, agent_id, internal_id, content IS NULL AS is_gone FROM after
    EXCEPT SELECT chain_id, agent_id, internal_id, content IS NULL FROM before
  ) AS n
  WHERE EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET count = a.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER reviewer_count_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_agent_reviews_with_text();

INSERT INTO market.agent_reviews
SELECT m.chain_id, m.agent_id, count(*)
FROM chain.reviews JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NOT NULL GROUP BY 1, 2;

-- How many votes a review has. Votes are never changed nor deleted.
CREATE TABLE market.review_votes (
  internal_id bigint PRIMARY KEY REFERENCES market.reviews,
  count       bigint NOT NULL,
  -- Those that count for the author.
  qualifying  bigint NOT NULL
) WITH (fillfactor = 70);

CREATE FUNCTION market.count_votes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.review_votes AS v (internal_id, count, qualifying)
  SELECT review_internal_id, count(*), count(*) FILTER (WHERE qualifies)
  FROM changed GROUP BY 1 ORDER BY 1
  ON CONFLICT (internal_id) DO UPDATE SET count = v.count + excluded.count, qualifying = v.qualifying + excluded.qualifying;
  RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON market.votes REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_votes();

INSERT INTO market.review_votes
SELECT review_internal_id, count(*), count(*) FILTER (WHERE qualifies) FROM market.votes GROUP BY 1;

-- ---- purchases

-- How many purchases there were through the reviews of an agent, and through one review.
CREATE TABLE market.agent_sales (
  chain_id    bigint NOT NULL,
  agent_id    bigint NOT NULL,
  conversions bigint NOT NULL,
  PRIMARY KEY (chain_id, agent_id)
) WITH (fillfactor = 70);
CREATE TABLE market.review_sales (
  chain_id    bigint NOT NULL,
  -- Its id on the chain.
  review_id   bigint NOT NULL,
  conversions bigint NOT NULL,
  PRIMARY KEY (chain_id, review_id)
) WITH (fillfactor = 70);

-- All purchases of a chain: how many, what was paid, and what was set aside of it for reviewers and for buyers.
CREATE TABLE market.trade_totals (
  chain_id   bigint      PRIMARY KEY,
  purchases  bigint      NOT NULL,
  volume     numeric(78) NOT NULL,
  commission numeric(78) NOT NULL,
  cashback   numeric(78) NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION market.count_purchases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.agent_sales AS s
  SELECT chain_id, reviewer_agent_id, sign * count(*) FROM changed GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET conversions = s.conversions + excluded.conversions;
  INSERT INTO market.review_sales AS s
  SELECT chain_id, review_id, sign * count(*) FROM changed GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (chain_id, review_id) DO UPDATE SET conversions = s.conversions + excluded.conversions;
  INSERT INTO market.trade_totals AS t
  SELECT chain_id, sign * count(*), sign * sum(price), sign * sum(commission), sign * sum(cashback)
  FROM changed GROUP BY 1 ORDER BY 1
  ON CONFLICT (chain_id) DO UPDATE SET purchases = t.purchases + excluded.purchases, volume = t.volume + excluded.volume,
    commission = t.commission + excluded.commission, cashback = t.cashback + excluded.cashback;
  RETURN NULL;
END $$;
CREATE TRIGGER counts_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_purchases();
CREATE TRIGGER counts_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_purchases();

INSERT INTO market.agent_sales SELECT chain_id, reviewer_agent_id, count(*) FROM chain.escrows GROUP BY 1, 2;
INSERT INTO market.review_sales SELECT chain_id, review_id, count(*) FROM chain.escrows GROUP BY 1, 2;
INSERT INTO market.trade_totals
SELECT chain_id, count(*), sum(price), sum(commission), sum(cashback) FROM chain.escrows GROUP BY 1;

-- The days of one product, for a chart of its sales.
CREATE INDEX daily_sales_of_product ON market.daily_sales (chain_id, merchant_id, product_id, day);

-- What an agent was paid on each day (UTC): as reviewer with a sale and with a settlement, as buyer as cashback.
CREATE TABLE market.earning_days (
  chain_id  bigint      NOT NULL,
  agent_id  bigint      NOT NULL,
  day       date        NOT NULL,
  immediate numeric(78) NOT NULL,
  settled   numeric(78) NOT NULL,
  cashback  numeric(78) NOT NULL,
  -- Purchases through its reviews.
  sales     bigint      NOT NULL,
  PRIMARY KEY (chain_id, agent_id, day)
) WITH (fillfactor = 70);

-- What one purchase paid to whom on which day.
CREATE FUNCTION market.earning_days_of(e chain.escrows)
RETURNS TABLE (agent_id bigint, day date, immediate numeric, settled numeric, cashback numeric, sales bigint)
LANGUAGE sql STABLE AS $$
  SELECT e.reviewer_agent_id, (e.deposited_at AT TIME ZONE 'UTC')::date, e.commission - e.fee - e.cashback - e.held_back,
    0::numeric, 0::numeric, 1::bigint
  UNION ALL
  SELECT e.reviewer_agent_id, (e.settled_at AT TIME ZONE 'UTC')::date, 0,
    coalesce(e.held_back_to_reviewer, 0) + coalesce(e.cashback_to_reviewer, 0), 0, 0
  WHERE e.settled_at IS NOT NULL
  UNION ALL
  SELECT e.buyer_agent_id, (coalesce(e.cashback_released_at, e.settled_at) AT TIME ZONE 'UTC')::date, 0, 0,
    CASE WHEN e.cashback_released_at IS NOT NULL THEN e.cashback ELSE coalesce(e.cashback_to_buyer, 0) END, 0
  WHERE e.buyer_agent_id IS NOT NULL AND coalesce(e.cashback_released_at, e.settled_at) IS NOT NULL
$$;

CREATE FUNCTION market.add_earning_days() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'remove' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.earning_days AS d
  SELECT c.chain_id, x.agent_id, x.day, sign * sum(x.immediate), sign * sum(x.settled), sign * sum(x.cashback), sign * sum(x.sales)
  FROM changed AS c, LATERAL market.earning_days_of(c) AS x
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, agent_id, day) DO UPDATE SET immediate = d.immediate + excluded.immediate,
    settled = d.settled + excluded.settled, cashback = d.cashback + excluded.cashback, sales = d.sales + excluded.sales;
  RETURN NULL;
END $$;
CREATE TRIGGER earning_days_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_earning_days('add');
CREATE TRIGGER earning_days_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_earning_days('remove');
CREATE TRIGGER earning_days_updated_1 AFTER UPDATE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_earning_days('remove');
CREATE TRIGGER earning_days_updated_2 AFTER UPDATE ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_earning_days('add');

INSERT INTO market.earning_days
SELECT c.chain_id, x.agent_id, x.day, sum(x.immediate), sum(x.settled), sum(x.cashback), sum(x.sales)
FROM chain.escrows AS c, LATERAL market.earning_days_of(c) AS x GROUP BY 1, 2, 3;

-- ---- opinions

-- The present opinions of a product by the day (UTC) of their reviews: how many, and the sums of weight and of weight × satisfaction.
CREATE TABLE market.opinion_days (
  chain_id    bigint  NOT NULL,
  merchant_id bigint  NOT NULL,
  product_id  bytea   NOT NULL,
  day         date    NOT NULL,
  opinions    integer NOT NULL,
  weight      bigint  NOT NULL,
  weighted    numeric NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, product_id, day)
) WITH (fillfactor = 70);

CREATE FUNCTION market.add_opinion_days() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'remove' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.opinion_days AS d
  SELECT chain_id, merchant_id, product_id, (published_at AT TIME ZONE 'UTC')::date, sign * count(*), sign * sum(weight),
    sign * sum(weight::numeric * satisfaction)
  FROM changed GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (chain_id, merchant_id, product_id, day) DO UPDATE SET opinions = d.opinions + excluded.opinions,
    weight = d.weight + excluded.weight, weighted = d.weighted + excluded.weighted;
  RETURN NULL;
END $$;
CREATE TRIGGER days_inserted AFTER INSERT ON market.opinions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_opinion_days('add');
CREATE TRIGGER days_deleted AFTER DELETE ON market.opinions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_opinion_days('remove');
CREATE TRIGGER days_updated_1 AFTER UPDATE ON market.opinions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_opinion_days('remove');
CREATE TRIGGER days_updated_2 AFTER UPDATE ON market.opinions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_opinion_days('add');

INSERT INTO market.opinion_days
SELECT chain_id, merchant_id, product_id, (published_at AT TIME ZONE 'UTC')::date, count(*), sum(weight), sum(weight::numeric * satisfaction)
FROM market.opinions GROUP BY 1, 2, 3, 4;

-- ---- categories

-- The product's, as it was when the listing was last written: whoever describes a product queues its listing.
ALTER TABLE market.listings ADD COLUMN category text NOT NULL DEFAULT '';
UPDATE market.listings AS l SET category = p.category FROM market.products AS p
WHERE (p.chain_id, p.merchant_id, p.product_id) = (l.chain_id, l.merchant_id, l.product_id);

-- A trigger, so that a replica of the version before fills it too.
CREATE FUNCTION market.fill_category() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.category := coalesce((
    SELECT p.category FROM market.products AS p
    WHERE p.chain_id = NEW.chain_id AND p.merchant_id = NEW.merchant_id AND p.product_id = NEW.product_id), '');
  RETURN NEW;
END $$;
CREATE TRIGGER fill_category BEFORE INSERT OR UPDATE OF is_open ON market.listings
  FOR EACH ROW EXECUTE FUNCTION market.fill_category();

-- How many open products a category has.
CREATE TABLE market.category_products (
  chain_id bigint NOT NULL,
  category text   NOT NULL,
  count    bigint NOT NULL,
  PRIMARY KEY (chain_id, category)
) WITH (fillfactor = 70);
CREATE INDEX category_products_by_count ON market.category_products (chain_id, count DESC, category);

ALTER TABLE market.counts DROP CONSTRAINT counts_what_check;
ALTER TABLE market.counts ADD CONSTRAINT counts_what_check
  CHECK (what IN ('agents', 'merchants', 'published reviews', 'open products'));

CREATE FUNCTION market.count_open_products() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.category_products AS p
  SELECT chain_id, category, sign * count(*) FROM changed WHERE is_open GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (chain_id, category) DO UPDATE SET count = p.count + excluded.count;
  INSERT INTO market.counts AS c
  SELECT chain_id, 'open products', sign * count(*) FROM changed WHERE is_open GROUP BY 1 ORDER BY 1
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON market.listings REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_open_products();
CREATE TRIGGER count_deleted AFTER DELETE ON market.listings REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_open_products();

-- Most listings that are written were open before, in the same category: these change nothing here.
CREATE FUNCTION market.count_changed_products() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.category_products AS p
  SELECT chain_id, category, sum(one) FROM (
    SELECT chain_id, category, 1 AS one FROM after WHERE is_open
    UNION ALL SELECT chain_id, category, -1 FROM before WHERE is_open) AS changed
  GROUP BY 1, 2 HAVING sum(one) <> 0 ORDER BY 1, 2
  ON CONFLICT (chain_id, category) DO UPDATE SET count = p.count + excluded.count;
  INSERT INTO market.counts AS c
  SELECT chain_id, 'open products', sum(one) FROM (
    SELECT chain_id, 1 AS one FROM after WHERE is_open
    UNION ALL SELECT chain_id, -1 FROM before WHERE is_open) AS changed
  GROUP BY 1 HAVING sum(one) <> 0 ORDER BY 1
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER count_updated AFTER UPDATE ON market.listings REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_changed_products();

INSERT INTO market.category_products SELECT chain_id, category, count(*) FROM market.listings WHERE is_open GROUP BY 1, 2;
INSERT INTO market.counts SELECT chain_id, 'open products', count(*) FROM market.listings WHERE is_open GROUP BY 1;

-- ---- the order of lists

-- Purchases, newest first. Two in one block have the same time, and a replaced contract counts from 1 again.
CREATE INDEX escrows_newest ON chain.escrows (chain_id, deposited_at DESC, escrow_id DESC, contract DESC);
-- Agents, best first.
CREATE INDEX review_ranks_by_repeat ON market.review_ranks (chain_id, repeat DESC) WHERE repeat IS NOT NULL;
CREATE INDEX review_ranks_by_one_off ON market.review_ranks (chain_id, one_off DESC) WHERE one_off IS NOT NULL;
-- The products of a merchant, best first.
CREATE INDEX products_of_merchant_by_rank ON market.products (chain_id, merchant_id, rank DESC, product_id);
