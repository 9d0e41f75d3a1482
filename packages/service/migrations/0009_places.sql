-- How many of a list lie in each stretch of 1,000 ids. A page in the middle of a million begins where the stretches before it end, so
-- that what is skipped is not counted one by one. Kept with market.counts, whose row whoever changes a list has locked before: the names
-- of these triggers come after those.
CREATE TABLE market.places (
  chain_id bigint NOT NULL,
  what     text   NOT NULL CHECK (what IN ('agents', 'published reviews')),
  stretch  bigint NOT NULL,
  count    bigint NOT NULL,
  PRIMARY KEY (chain_id, what, stretch)
) WITH (fillfactor = 50);

CREATE FUNCTION market.place_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.places AS p (chain_id, what, stretch, count)
  SELECT chain_id, 'agents', agent_id / 1000, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed GROUP BY 1, 3 ORDER BY 1, 3
  ON CONFLICT (chain_id, what, stretch) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER place_inserted AFTER INSERT ON chain.identities REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.place_agents();
CREATE TRIGGER place_deleted AFTER DELETE ON chain.identities REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.place_agents();

CREATE FUNCTION market.place_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.places AS p (chain_id, what, stretch, count)
  SELECT r.chain_id, 'published reviews', internal_id / 1000, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL
  GROUP BY 1, 3 ORDER BY 1, 3
  ON CONFLICT (chain_id, what, stretch) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER place_inserted AFTER INSERT ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.place_reviews_of_chain();
CREATE TRIGGER place_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.place_reviews_of_chain();

CREATE FUNCTION market.place_reviews_with_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.places AS p (chain_id, what, stretch, count)
  SELECT n.chain_id, 'published reviews', internal_id / 1000, sum(CASE WHEN n.content IS NULL THEN -1 ELSE 1 END)
  FROM before AS o JOIN after AS n USING (internal_id)
  WHERE (o.content IS NULL) <> (n.content IS NULL)
    AND EXISTS (SELECT FROM chain.reviews AS r WHERE r.internal_id = n.internal_id)
  GROUP BY 1, 3 ORDER BY 1, 3
  ON CONFLICT (chain_id, what, stretch) DO UPDATE SET count = p.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER place_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.place_reviews_with_text();

INSERT INTO market.places
SELECT chain_id, 'agents', agent_id / 1000, count(*) FROM chain.identities GROUP BY 1, 3
UNION ALL SELECT r.chain_id, 'published reviews', internal_id / 1000, count(*)
  FROM chain.reviews JOIN market.reviews AS r USING (internal_id) WHERE r.content IS NOT NULL GROUP BY 1, 3;
