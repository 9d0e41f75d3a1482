-- expand: the block and log of each purchase and review, which tell what came first within a second

-- 0: indexed before this was kept; its time alone says when it was, until the chain is indexed anew.
ALTER TABLE chain.escrows
  ADD COLUMN block_number bigint  NOT NULL DEFAULT 0,
  ADD COLUMN log_index    integer NOT NULL DEFAULT 0;
ALTER TABLE chain.reviews
  ADD COLUMN block_number bigint  NOT NULL DEFAULT 0,
  ADD COLUMN log_index    integer NOT NULL DEFAULT 0;

-- A rollback puts rows back as they are remembered.
UPDATE indexer.undo SET before = before || '{"block_number": 0, "log_index": 0}'
WHERE relation IN ('chain.escrows'::regclass, 'chain.reviews'::regclass) AND before IS NOT NULL;
