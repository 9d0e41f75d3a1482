-- What counts against the caps of a wallet: whatever it paid, and whatever was bought by agents that it owned at that moment. An agent that
-- is given away brings its new owner nothing of it.

ALTER TABLE chain.escrows
  -- Who owned the buying agent when it bought; null: bought without an agent. Binding a purchase to an agent later changes nothing here.
  ADD COLUMN buyer_owner bytea;

-- Nothing that other tables rest on changes, so that none of them is told.
ALTER TABLE chain.escrows DISABLE TRIGGER USER;
UPDATE chain.escrows AS e SET buyer_owner = (
  SELECT o.to_owner FROM chain.ownership_changes AS o
  WHERE o.chain_id = e.chain_id AND o.agent_id = e.buyer_agent_id AND o.changed_at <= e.deposited_at
  ORDER BY o.block_number DESC, o.log_index DESC LIMIT 1)
WHERE buyer_agent_id IS NOT NULL AND bound_at IS NULL;
ALTER TABLE chain.escrows ENABLE TRIGGER USER;

DROP TRIGGER spending_inserted ON chain.escrows;
DROP TRIGGER spending_deleted ON chain.escrows;
DROP TRIGGER spending_updated ON chain.escrows;
DROP FUNCTION market.add_spending();
DROP FUNCTION market.move_spending();
DROP TABLE market.spending;
DROP INDEX chain.escrows_of_payer;

-- Kept with every purchase that comes or goes. What changes of a purchase later does not matter here.
CREATE TABLE market.spent (
  chain_id bigint      NOT NULL,
  owner    bytea       NOT NULL,
  -- In UTC.
  day      date        NOT NULL,
  amount   numeric(78) NOT NULL,
  PRIMARY KEY (chain_id, owner, day)
) WITH (fillfactor = 70);

-- The wallets that one purchase counts for, each once.
CREATE FUNCTION market.spenders_of(payer bytea, buyer_owner bytea) RETURNS bytea[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN buyer_owner <> payer THEN ARRAY[payer, buyer_owner] ELSE ARRAY[payer] END
$$;

CREATE FUNCTION market.add_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.spent AS s
  SELECT c.chain_id, w.owner, (c.deposited_at AT TIME ZONE 'UTC')::date,
    CASE TG_OP WHEN 'INSERT' THEN sum(c.price) ELSE -sum(c.price) END
  FROM changed AS c, unnest(market.spenders_of(c.payer, c.buyer_owner)) AS w (owner) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, owner, day) DO UPDATE SET amount = s.amount + excluded.amount;
  RETURN NULL;
END $$;
CREATE TRIGGER spent_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_spent();
CREATE TRIGGER spent_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_spent();

INSERT INTO market.spent
SELECT e.chain_id, w.owner, (e.deposited_at AT TIME ZONE 'UTC')::date, sum(e.price)
FROM chain.escrows AS e, unnest(market.spenders_of(e.payer, e.buyer_owner)) AS w (owner) GROUP BY 1, 2, 3;
