-- What owners ask their agents to do, what their wallets have spent, and codes that link a wallet to a chat.

-- ---- intents

CREATE TABLE market.intents (
  -- Random.
  intent_id  text        PRIMARY KEY,
  chain_id   bigint      NOT NULL,
  agent_id   bigint      NOT NULL,
  -- Who queued it. When the agent changes hands, the next owner neither sees nor pays for it.
  owner      bytea       NOT NULL,
  type       text        NOT NULL CHECK (type IN ('buy_product')),
  -- JSON, as it is handed on.
  payload    text        NOT NULL,
  -- One that is pending after `expires_at` is expired.
  status     text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'executed', 'skipped', 'withdrawn')),
  -- What the agent's runner said of it.
  result     text,
  reason     text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  closed_at  timestamptz,
  CHECK ((status = 'pending') = (closed_at IS NULL))
);
-- By the moment: those that have expired are not read, however many there are.
CREATE INDEX intents_pending ON market.intents (chain_id, agent_id, owner, expires_at) WHERE status = 'pending';
-- Those that are forgotten.
CREATE INDEX intents_expiry ON market.intents (expires_at);
CREATE INDEX intents_newest ON market.intents (chain_id, agent_id, owner, created_at DESC, intent_id DESC);

-- ---- what was spent

-- By whom and for which agent, all of it. Budgets are asked for with every poll, and adding up the purchases of years would take as long
-- as reading them.
CREATE TABLE market.spending (
  chain_id       bigint      NOT NULL,
  payer          bytea       NOT NULL,
  -- -1: no agent.
  buyer_agent_id bigint      NOT NULL,
  spent          numeric(78) NOT NULL,
  PRIMARY KEY (chain_id, payer, buyer_agent_id)
) WITH (fillfactor = 70);
CREATE INDEX spending_for_buyer ON market.spending (chain_id, buyer_agent_id);

CREATE FUNCTION market.add_spending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.spending AS s
  SELECT chain_id, payer, coalesce(buyer_agent_id, -1), CASE TG_OP WHEN 'INSERT' THEN sum(price) ELSE -sum(price) END
  FROM changed GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, payer, buyer_agent_id) DO UPDATE SET spent = s.spent + excluded.spent;
  RETURN NULL;
END $$;
CREATE TRIGGER spending_inserted AFTER INSERT ON chain.escrows REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_spending();
CREATE TRIGGER spending_deleted AFTER DELETE ON chain.escrows REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION market.add_spending();

-- A purchase without an agent may be bound to one later. Nothing else of it changes that matters here.
CREATE FUNCTION market.move_spending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO market.spending AS s
  SELECT chain_id, payer, coalesce(buyer_agent_id, -1), sum(price)
  FROM (
    (SELECT chain_id, contract, escrow_id, payer, buyer_agent_id, price FROM after
     EXCEPT SELECT chain_id, contract, escrow_id, payer, buyer_agent_id, price FROM before)
    UNION ALL
    (SELECT chain_id, contract, escrow_id, payer, buyer_agent_id, -price FROM before
     EXCEPT SELECT chain_id, contract, escrow_id, payer, buyer_agent_id, -price FROM after)
  ) AS changed
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, payer, buyer_agent_id) DO UPDATE SET spent = s.spent + excluded.spent;
  RETURN NULL;
END $$;
CREATE TRIGGER spending_updated AFTER UPDATE ON chain.escrows REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION market.move_spending();

INSERT INTO market.spending
SELECT chain_id, payer, coalesce(buyer_agent_id, -1), sum(price) FROM chain.escrows GROUP BY 1, 2, 3;

-- Those of a day; of a buyer they are found by `escrows_of_buyer`.
CREATE INDEX escrows_of_payer ON chain.escrows (chain_id, payer, deposited_at);

-- ---- the messenger link

CREATE TABLE market.link_codes (
  -- SHA-256 of it: whoever reads the database learns no code.
  code_hash  bytea       PRIMARY KEY,
  -- Where it is redeemed.
  direction  text        NOT NULL CHECK (direction IN ('web', 'chat')),
  owner      bytea       NOT NULL,
  chain_id   bigint      NOT NULL,
  agent_id   bigint      NOT NULL,
  minted_at  timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at    timestamptz
);
CREATE INDEX link_codes_expiry ON market.link_codes (expires_at);

-- Of commitments that count once.
CREATE TABLE market.burned_nonces (
  chain_id bigint      NOT NULL,
  nonce    bytea       NOT NULL,
  -- From then on the commitment itself is refused.
  expiry   timestamptz NOT NULL,
  PRIMARY KEY (chain_id, nonce)
);
CREATE INDEX burned_nonces_expiry ON market.burned_nonces (expiry);
