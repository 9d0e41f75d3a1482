-- Two tables get names that say what is in them. What has waited in market.marks waits on in market.pending_changes; market.places, which
-- counts the members of a list for every 1,000 ids, becomes market.range_counts. The bodies of the triggers' functions are text and do
-- not follow a renaming: each that names one of the tables is written again with the new name.
ALTER TABLE market.marks RENAME TO pending_changes;
ALTER TABLE market.pending_changes RENAME CONSTRAINT marks_pkey TO pending_changes_pkey;
ALTER TABLE market.pending_changes RENAME CONSTRAINT marks_what_check TO pending_changes_what_check;
ALTER INDEX market.marks_of_chain RENAME TO pending_changes_of_chain;

ALTER TABLE market.places RENAME TO range_counts;
ALTER TABLE market.range_counts RENAME COLUMN stretch TO id_range;
ALTER TABLE market.range_counts RENAME CONSTRAINT places_pkey TO range_counts_pkey;
ALTER TABLE market.range_counts RENAME CONSTRAINT places_what_check TO range_counts_what_check;

DO $$
DECLARE
  definition text;
BEGIN
  FOR definition IN
    SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('market', 'chain') AND p.prosrc ~ 'market\.(marks|places)'
  LOOP
    definition := replace(definition, 'market.marks', 'market.pending_changes');
    definition := replace(definition, 'market.places', 'market.range_counts');
    EXECUTE regexp_replace(definition, '\mstretch\M', 'id_range', 'g');
  END LOOP;
END $$;
