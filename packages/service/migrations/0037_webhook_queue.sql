-- expand: queued changes of webhooks are found by record; edits on chains are changes

-- Finds what is queued of a record. A purchase has a nonce, anything else a number.
CREATE INDEX IF NOT EXISTS webhook_changes_of_record ON market.webhook_changes (chain_id, what, (coalesce(nonce, int8send(subject))));

-- An edit that a reorganisation drops and brings again changes nothing in `market.reviews`, where the text is known already.
CREATE TRIGGER mark_updated AFTER UPDATE ON chain.reviews REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.mark_reviews_of_chain();
