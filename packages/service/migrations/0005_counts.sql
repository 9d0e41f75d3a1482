-- How many of something a chain has. Lists tell their total with every page, and counting a million rows for it takes as long as
-- reading them; so it is kept with every change, in the transaction that makes it.
CREATE TABLE market.counts (
  chain_id bigint NOT NULL,
  what     text   NOT NULL CHECK (what IN ('agents', 'merchants', 'published reviews')),
  count    bigint NOT NULL,
  PRIMARY KEY (chain_id, what)
) WITH (fillfactor = 50);

-- On a table with a row for each; the argument says what they are.
CREATE FUNCTION market.count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.counts AS c (chain_id, what, count)
  SELECT chain_id, TG_ARGV[0], CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed GROUP BY chain_id ORDER BY chain_id
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;

CREATE TRIGGER count_inserted AFTER INSERT ON chain.identities REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_rows('agents');
CREATE TRIGGER count_deleted AFTER DELETE ON chain.identities REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_rows('agents');
CREATE TRIGGER count_inserted AFTER INSERT ON market.merchants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_rows('merchants');
CREATE TRIGGER count_deleted AFTER DELETE ON market.merchants REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_rows('merchants');

-- A review is published when it is on the chain and its text is known: either may come first, or go. Whoever changes the one has the
-- review's record locked, so that two at once do not miss each other. The indexer locks what it adds, but not what it takes back.
CREATE FUNCTION market.count_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM FROM market.reviews WHERE internal_id IN (SELECT internal_id FROM changed) ORDER BY internal_id FOR UPDATE;
  END IF;
  INSERT INTO market.counts AS c (chain_id, what, count)
  SELECT r.chain_id, 'published reviews', CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL
  GROUP BY r.chain_id ORDER BY r.chain_id
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;

CREATE TRIGGER count_inserted AFTER INSERT ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_reviews_of_chain();
CREATE TRIGGER count_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_reviews_of_chain();

CREATE FUNCTION market.count_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.counts AS c (chain_id, what, count)
  SELECT n.chain_id, 'published reviews', sum(CASE WHEN n.content IS NULL THEN -1 ELSE 1 END)
  FROM before AS o JOIN after AS n USING (internal_id)
  WHERE (o.content IS NULL) <> (n.content IS NULL)
    AND EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY n.chain_id ORDER BY n.chain_id
  ON CONFLICT (chain_id, what) DO UPDATE SET count = c.count + excluded.count;
  RETURN NULL;
END $$;

CREATE TRIGGER count_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.count_reviews_with_text();

INSERT INTO market.counts
SELECT chain_id, 'agents', count(*) FROM chain.identities GROUP BY chain_id
UNION ALL SELECT chain_id, 'merchants', count(*) FROM market.merchants GROUP BY chain_id
UNION ALL SELECT r.chain_id, 'published reviews', count(*)
  FROM chain.reviews JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL GROUP BY r.chain_id;
