-- What the web console asks for: the sessions of a wallet, what a wallet bought, what a merchant sold on which day, and flagged agents.

-- Sessions can be listed and closed by an id that is not the token. A session from before this migration counts as opened by it.
ALTER TABLE market.sessions
  ADD COLUMN session_id uuid        NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN opened_at  timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN user_agent text        NOT NULL DEFAULT '' CHECK (length(user_agent) <= 200);
CREATE UNIQUE INDEX sessions_by_id ON market.sessions (session_id);
CREATE INDEX sessions_of_address ON market.sessions (address, opened_at DESC);

CREATE INDEX escrows_of_payer ON chain.escrows (chain_id, payer, deposited_at DESC, escrow_id DESC);
CREATE INDEX escrows_of_merchant ON chain.escrows (chain_id, merchant_id, deposited_at DESC, escrow_id DESC);
CREATE INDEX proofs_of_agent_by_id ON market.proofs (chain_id, agent_id, proof_id DESC);

-- Null: not flagged, or flagged before this migration.
ALTER TABLE market.agents ADD COLUMN flagged_at timestamptz;
CREATE INDEX agents_flagged ON market.agents (chain_id, agent_id) WHERE flagged;

-- What a product sold on a day (UTC); kept by the indexer, in the transaction that changes it, so that a chart of a year reads one row for
-- a day and not every purchase.
CREATE TABLE market.daily_sales (
  chain_id    bigint      NOT NULL,
  merchant_id bigint      NOT NULL,
  day         date        NOT NULL,
  product_id  bytea       NOT NULL,
  count       bigint      NOT NULL,
  revenue     numeric(78) NOT NULL,
  commission  numeric(78) NOT NULL,
  fee         numeric(78) NOT NULL,
  PRIMARY KEY (chain_id, merchant_id, day, product_id)
) WITH (fillfactor = 70);

CREATE FUNCTION market.add_daily_sales() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO market.daily_sales AS s
  SELECT chain_id, merchant_id, (deposited_at AT TIME ZONE 'UTC')::date, product_id, sign * count(*), sign * sum(price),
    sign * sum(commission), sign * sum(fee)
  FROM changed GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (chain_id, merchant_id, day, product_id) DO UPDATE SET count = s.count + excluded.count,
    revenue = s.revenue + excluded.revenue, commission = s.commission + excluded.commission, fee = s.fee + excluded.fee;
  RETURN NULL;
END $$;
CREATE TRIGGER daily_sales_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_daily_sales();
CREATE TRIGGER daily_sales_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_daily_sales();
INSERT INTO market.daily_sales
SELECT chain_id, merchant_id, (deposited_at AT TIME ZONE 'UTC')::date, product_id, count(*), sum(price), sum(commission), sum(fee)
FROM chain.escrows GROUP BY 1, 2, 3, 4;
