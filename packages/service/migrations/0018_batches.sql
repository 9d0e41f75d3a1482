-- What a batch of the oracle left as it was, and the error that the contract gave for it.
CREATE TABLE chain.skipped_escrows (
  chain_id         bigint  NOT NULL,
  block_number     bigint  NOT NULL,
  log_index        integer NOT NULL,
  contract         bytea   NOT NULL,
  payer            bytea   NOT NULL,
  nonce            bytea   NOT NULL,
  escrow_id        numeric(78) NOT NULL,
  transaction_hash bytea   NOT NULL,
  reason           bytea   NOT NULL,
  PRIMARY KEY (chain_id, block_number, log_index)
);
CREATE INDEX skipped_escrows_of_payment ON chain.skipped_escrows (chain_id, payer, nonce, contract, transaction_hash);
SELECT indexer.mirror('chain.skipped_escrows');

-- What holds nothing is never settled on the chain, since that would cost gas and pay nobody: it must not be found again each time.
DROP INDEX chain.escrows_to_settle;
CREATE INDEX escrows_to_settle ON chain.escrows (chain_id, window_end, escrow_id, contract)
  WHERE settled_at IS NULL AND (held_back > 0 OR (cashback > 0 AND cashback_released_at IS NULL));

-- The same of a merchant's sales: `held` counts the escrows that hold something, `settled` all others.
CREATE OR REPLACE FUNCTION market.add_totals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'remove' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.earnings AS t
  SELECT c.chain_id, x.agent_id, sign * sum(x.immediate), sign * sum(x.held_back_settled), sign * sum(x.held_back_pending),
    sign * sum(x.cashback_total), sign * sum(x.cashback_count), sign * sum(x.cashback_pending)
  FROM changed AS c, LATERAL market.earnings_of(c) AS x
  GROUP BY c.chain_id, x.agent_id ORDER BY c.chain_id, x.agent_id
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET
    immediate = t.immediate + excluded.immediate,
    held_back_settled = t.held_back_settled + excluded.held_back_settled,
    held_back_pending = t.held_back_pending + excluded.held_back_pending,
    cashback_total = t.cashback_total + excluded.cashback_total,
    cashback_count = t.cashback_count + excluded.cashback_count,
    cashback_pending = t.cashback_pending + excluded.cashback_pending;
  INSERT INTO market.sales AS t
  SELECT c.chain_id, c.merchant_id, sign * count(*), sign * sum(c.price),
    sign * count(*) FILTER (WHERE market.holds_money(c)), sign * count(*) FILTER (WHERE NOT market.holds_money(c))
  FROM changed AS c GROUP BY c.chain_id, c.merchant_id ORDER BY c.chain_id, c.merchant_id
  ON CONFLICT (chain_id, merchant_id) DO UPDATE SET
    conversions = t.conversions + excluded.conversions, gross = t.gross + excluded.gross,
    held = t.held + excluded.held, settled = t.settled + excluded.settled;
  RETURN NULL;
END $$;

CREATE FUNCTION market.holds_money(e chain.escrows) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT e.settled_at IS NULL AND (e.held_back > 0 OR (e.cashback > 0 AND e.cashback_released_at IS NULL))
$$;

UPDATE market.sales AS t SET held = counted.held, settled = counted.conversions - counted.held
FROM (
  SELECT chain_id, merchant_id, count(*) AS conversions, count(*) FILTER (WHERE market.holds_money(e)) AS held
  FROM chain.escrows AS e GROUP BY chain_id, merchant_id
) AS counted
WHERE counted.chain_id = t.chain_id AND counted.merchant_id = t.merchant_id;
