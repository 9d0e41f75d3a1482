-- Reviews that changed lately: whoever keeps answers in memory asks whether they still hold. New is what a transaction wrote that an
-- earlier look could not see; numbers of a counter would not tell, since transactions end in another order than they begin.
CREATE TABLE market.review_changes (
  xid        xid8        NOT NULL DEFAULT pg_current_xact_id(),
  changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX review_changes_by_transaction ON market.review_changes (xid);
CREATE INDEX review_changes_by_age ON market.review_changes (changed_at);

-- Only of reviews that had a text: others are in nobody's memory.
CREATE FUNCTION market.note_changed_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.review_changes
  SELECT WHERE EXISTS (
    SELECT FROM before JOIN after USING (internal_id)
    WHERE before.content IS NOT NULL
      AND (before.content, before.satisfaction_score, before.comparison_outcome, before.ref_token)
        IS DISTINCT FROM (after.content, after.satisfaction_score, after.comparison_outcome, after.ref_token));
  RETURN NULL;
END $$;
CREATE TRIGGER note_updated AFTER UPDATE ON market.reviews REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.note_changed_reviews();

CREATE FUNCTION market.note_changed_reviews_of_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.review_changes SELECT WHERE EXISTS (SELECT FROM changed);
  RETURN NULL;
END $$;
CREATE TRIGGER note_updated AFTER UPDATE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.note_changed_reviews_of_chain();
CREATE TRIGGER note_deleted AFTER DELETE ON chain.reviews REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.note_changed_reviews_of_chain();
