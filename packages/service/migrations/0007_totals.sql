-- What agents earned and merchants sold. Lists show it with every row, and adding up a hundred thousand purchases for it would take as
-- long as reading them; so it is kept with every change of a purchase, in the transaction that makes it.

CREATE TABLE market.earnings (
  chain_id          bigint      NOT NULL,
  agent_id          bigint      NOT NULL,
  -- As reviewer: paid at once, paid at settlement, and still held back.
  immediate         numeric(78) NOT NULL,
  held_back_settled numeric(78) NOT NULL,
  held_back_pending numeric(78) NOT NULL,
  -- As buyer: paid, how often, and still held.
  cashback_total    numeric(78) NOT NULL,
  cashback_count    bigint      NOT NULL,
  cashback_pending  numeric(78) NOT NULL,
  PRIMARY KEY (chain_id, agent_id)
) WITH (fillfactor = 70);

CREATE TABLE market.sales (
  chain_id    bigint      NOT NULL,
  merchant_id bigint      NOT NULL,
  conversions bigint      NOT NULL,
  gross       numeric(78) NOT NULL,
  held        bigint      NOT NULL,
  settled     bigint      NOT NULL,
  PRIMARY KEY (chain_id, merchant_id)
) WITH (fillfactor = 70);

-- What one purchase is to those who took part in it.
CREATE FUNCTION market.earnings_of(e chain.escrows)
RETURNS TABLE (agent_id bigint, immediate numeric, held_back_settled numeric, held_back_pending numeric,
               cashback_total numeric, cashback_count bigint, cashback_pending numeric)
LANGUAGE sql IMMUTABLE AS $$
  SELECT e.reviewer_agent_id,
    e.commission - e.fee - e.cashback - e.held_back,
    CASE WHEN e.settled_at IS NULL THEN 0 ELSE coalesce(e.held_back_to_reviewer, 0) + coalesce(e.cashback_to_reviewer, 0) END,
    CASE WHEN e.settled_at IS NULL THEN e.held_back ELSE 0 END,
    0::numeric, 0::bigint, 0::numeric
  UNION ALL
  SELECT e.buyer_agent_id, 0, 0, 0, paid, (paid > 0)::int::bigint,
    CASE WHEN e.settled_at IS NULL AND e.cashback_released_at IS NULL THEN e.cashback ELSE 0 END
  FROM (SELECT CASE WHEN e.cashback_released_at IS NOT NULL THEN e.cashback ELSE coalesce(e.cashback_to_buyer, 0) END AS paid) AS cashback
  WHERE e.buyer_agent_id IS NOT NULL
$$;

CREATE FUNCTION market.add_totals() RETURNS trigger LANGUAGE plpgsql AS $$
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
    sign * count(*) FILTER (WHERE c.settled_at IS NULL), sign * count(c.settled_at)
  FROM changed AS c GROUP BY c.chain_id, c.merchant_id ORDER BY c.chain_id, c.merchant_id
  ON CONFLICT (chain_id, merchant_id) DO UPDATE SET
    conversions = t.conversions + excluded.conversions, gross = t.gross + excluded.gross,
    held = t.held + excluded.held, settled = t.settled + excluded.settled;
  RETURN NULL;
END $$;

CREATE TRIGGER totals_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_totals('add');
CREATE TRIGGER totals_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_totals('remove');
CREATE TRIGGER totals_updated_1 AFTER UPDATE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_totals('remove');
CREATE TRIGGER totals_updated_2 AFTER UPDATE ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_totals('add');

INSERT INTO market.earnings
SELECT c.chain_id, x.agent_id, sum(x.immediate), sum(x.held_back_settled), sum(x.held_back_pending), sum(x.cashback_total),
  sum(x.cashback_count), sum(x.cashback_pending)
FROM chain.escrows AS c, LATERAL market.earnings_of(c) AS x GROUP BY c.chain_id, x.agent_id;
INSERT INTO market.sales
SELECT chain_id, merchant_id, count(*), sum(price), count(*) FILTER (WHERE settled_at IS NULL), count(settled_at)
FROM chain.escrows GROUP BY chain_id, merchant_id;
