-- What the indexer remembers: how far it is, the blocks that may still be reorganised, and how to take their effects back.
CREATE SCHEMA indexer;

-- One row a chain. Its owner compares and swaps it in the transaction that applies a block.
CREATE TABLE indexer.checkpoints (
  chain_id     bigint      PRIMARY KEY,
  -- The newest applied block.
  block_number bigint      NOT NULL,
  block_hash   bytea       NOT NULL,
  block_time   timestamptz NOT NULL,
  -- Blocks up to this one are final: what they did cannot be taken back any more.
  final_number bigint      NOT NULL,
  -- The newest block that the active replica knows of, and when it last looked.
  head_number  bigint      NOT NULL,
  head_time    timestamptz NOT NULL,
  seen_at      timestamptz NOT NULL DEFAULT now()
);

-- Applied blocks from the last final one on, to find where a fork left our chain.
CREATE TABLE indexer.blocks (
  chain_id bigint NOT NULL,
  number   bigint NOT NULL,
  hash     bytea  NOT NULL,
  PRIMARY KEY (chain_id, number)
);

-- Rows as they were before a block that is not final changed them.
CREATE TABLE indexer.undo (
  chain_id     bigint   NOT NULL,
  block_number bigint   NOT NULL,
  seq          bigint   GENERATED ALWAYS AS IDENTITY,
  relation     regclass NOT NULL,
  key          jsonb    NOT NULL,
  -- Null: there was no such row.
  before       jsonb,
  PRIMARY KEY (chain_id, block_number, seq)
);

-- On every mirrored table. The setting `indexer.block` is the block being applied, or `final`.
CREATE FUNCTION indexer.remember() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  block text := current_setting('indexer.block', true);
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  any_row jsonb := coalesce(old_row, to_jsonb(NEW));
BEGIN
  IF coalesce(block, '') = '' THEN
    RAISE EXCEPTION '% mirrors the chain and is written by the indexer only', TG_RELID::regclass;
  END IF;
  INSERT INTO indexer.undo (chain_id, block_number, relation, key, before)
  SELECT (any_row ->> 'chain_id')::bigint, block::bigint, TG_RELID, jsonb_object_agg(name, any_row -> name), old_row
  FROM unnest(TG_ARGV) AS name;
  RETURN NULL;
END $$;

CREATE FUNCTION indexer.key_columns(relation regclass) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT array_agg(a.attname ORDER BY a.attnum)
  FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
  WHERE i.indrelid = relation AND i.indisprimary
$$;

-- Makes a table follow the chain: its rows are rolled back with the blocks that wrote them. It needs a primary key with `chain_id`.
CREATE FUNCTION indexer.mirror(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  columns text[] := indexer.key_columns(relation);
BEGIN
  IF columns IS NULL OR NOT 'chain_id' = ANY (columns) THEN
    RAISE EXCEPTION '% needs a primary key that holds chain_id', relation;
  END IF;
  EXECUTE format(
    'CREATE TRIGGER remember AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW
     WHEN (current_setting(''indexer.block'', true) IS DISTINCT FROM ''final'')
     EXECUTE FUNCTION indexer.remember(%s)',
    relation, (SELECT string_agg(quote_literal(name), ', ') FROM unnest(columns) AS name));
END $$;

-- Puts every mirrored row of a chain back to what it was after block `target`.
CREATE FUNCTION indexer.roll_back(chain bigint, target bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  touched regclass;
  columns text;
BEGIN
  PERFORM set_config('indexer.block', 'final', true);
  FOR touched IN
    SELECT DISTINCT relation FROM indexer.undo WHERE chain_id = chain AND block_number > target
  LOOP
    SELECT string_agg(quote_ident(name), ', ') INTO columns FROM unnest(indexer.key_columns(touched)) AS name;
    EXECUTE format(
      'DELETE FROM %1$s WHERE (%2$s) IN (
         SELECT %2$s FROM (SELECT DISTINCT key FROM indexer.undo WHERE chain_id = $1 AND block_number > $2 AND relation = $3) AS keys,
         LATERAL jsonb_populate_record(NULL::%1$s, key))', touched, columns)
      USING chain, target, touched;
    EXECUTE format(
      'INSERT INTO %1$s SELECT (jsonb_populate_record(NULL::%1$s, before)).* FROM (
         SELECT DISTINCT ON (key) before FROM indexer.undo
         WHERE chain_id = $1 AND block_number > $2 AND relation = $3 ORDER BY key, seq) AS oldest
       WHERE before IS NOT NULL', touched)
      USING chain, target, touched;
  END LOOP;
  DELETE FROM indexer.undo WHERE chain_id = chain AND block_number > target;
  DELETE FROM indexer.blocks WHERE chain_id = chain AND number > target;
END $$;

-- Forgets a chain, so that it is indexed anew from its first block.
CREATE FUNCTION indexer.forget(chain bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  mirrored regclass;
BEGIN
  PERFORM set_config('indexer.block', 'final', true);
  FOR mirrored IN SELECT tgrelid FROM pg_trigger WHERE tgfoid = 'indexer.remember'::regproc LOOP
    EXECUTE format('DELETE FROM %s WHERE chain_id = $1', mirrored) USING chain;
  END LOOP;
  DELETE FROM indexer.undo WHERE chain_id = chain;
  DELETE FROM indexer.blocks WHERE chain_id = chain;
  DELETE FROM indexer.checkpoints WHERE chain_id = chain;
END $$;
