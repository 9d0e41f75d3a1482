-- What payers, merchants and the code of wallets cost us, and what they have earned. Every number is the sum of what settlements have put
-- there, so that a payment and what it counts for are written in one transaction, and nothing has to be summed up to be known.
CREATE TABLE facilitator.accounts (
  chain_id bigint  NOT NULL,
  -- payer: an address. merchant: its id. code: the hash of what wallets run. all: everybody without trust of their own.
  kind     text    NOT NULL CHECK (kind IN ('payer', 'merchant', 'code', 'all')),
  id       bytea   NOT NULL,
  -- Gas beyond fees on one UTC day, in base units of USDC; below zero: the fees were more.
  day      integer NOT NULL,
  owed     bigint  NOT NULL,
  -- Gas that fees have paid for, and that was not burned since.
  earned   bigint  NOT NULL,
  -- Gas that payments under way could burn.
  at_risk  bigint  NOT NULL,
  -- Gas burned for nothing in one hour.
  hour     integer NOT NULL,
  burned   bigint  NOT NULL,
  PRIMARY KEY (chain_id, kind, id)
) WITH (fillfactor = 70);

ALTER TABLE facilitator.settlements
  -- Of the gas, in base units. Like all that follows of this try alone: what an earlier one counted for is in the accounts for good.
  ADD COLUMN cost    bigint  NOT NULL DEFAULT 0,
  -- What it brings us: expected until it is settled.
  ADD COLUMN fee     bigint  NOT NULL DEFAULT 0,
  -- What the payer runs; null: nothing, when it was tried.
  ADD COLUMN code    bytea   CHECK (octet_length(code) = 32),
  -- Who answers for what it may burn.
  ADD COLUMN backer  text    NOT NULL DEFAULT 'payer' CHECK (backer IN ('payer', 'code', 'all')),
  ADD COLUMN at_risk bigint  NOT NULL DEFAULT 0,
  ADD COLUMN burned  bigint  NOT NULL DEFAULT 0,
  -- What nobody's trust paid for of it.
  ADD COLUMN unpaid  bigint  NOT NULL DEFAULT 0,
  ADD COLUMN earned  bigint  NOT NULL DEFAULT 0,
  -- Since 1970, when it was last sent, or blamed.
  ADD COLUMN day     integer NOT NULL DEFAULT 0,
  ADD COLUMN hour    integer NOT NULL DEFAULT 0;

-- What one settlement counts for; `sign` is -1 where it does so no more. `merchant_id` is null where no merchant answers for it: by what
-- payers burned, or had given back, anybody could close a shop.
CREATE TYPE facilitator.change AS (
  sign integer, chain_id bigint, payer bytea, merchant_id bigint, code bytea, backer text, owed bigint, earned bigint, at_risk bigint,
  burned bigint, unpaid bigint, day integer, hour integer);

-- In one order everywhere, so that two who change the same accounts wait for each other. A later day or hour starts anew, and what is
-- learned afterwards about an earlier one changes it no more.
CREATE FUNCTION facilitator.count_changes(changes facilitator.change[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO facilitator.accounts AS a (chain_id, kind, id, day, owed, earned, at_risk, hour, burned)
  SELECT c.chain_id, each.kind, each.id, max(c.day), sum(c.sign * each.owed), sum(c.sign * each.earned), sum(c.sign * each.at_risk),
    max(c.hour), sum(c.sign * each.burned)
  FROM unnest(changes) c
  CROSS JOIN LATERAL (VALUES
    ('payer', c.payer, c.owed, c.earned, c.at_risk, c.burned),
    ('merchant', int8send(c.merchant_id), c.owed, 0, 0, 0),
    ('code', c.code, 0, c.earned, CASE WHEN c.backer = 'payer' THEN 0 ELSE c.at_risk END, c.burned),
    ('all', ''::bytea, 0, 0, CASE WHEN c.backer = 'all' THEN c.at_risk ELSE 0 END, c.unpaid)
  ) AS each (kind, id, owed, earned, at_risk, burned)
  WHERE each.id IS NOT NULL
  GROUP BY c.chain_id, each.kind, each.id
  HAVING (sum(c.sign * each.owed), sum(c.sign * each.earned), sum(c.sign * each.at_risk), sum(c.sign * each.burned)) <> (0, 0, 0, 0)
  ORDER BY c.chain_id, each.kind, each.id
  ON CONFLICT (chain_id, kind, id) DO UPDATE SET
    day = greatest(a.day, EXCLUDED.day),
    owed = CASE WHEN EXCLUDED.day > a.day THEN 0 ELSE a.owed END + CASE WHEN EXCLUDED.day < a.day THEN 0 ELSE EXCLUDED.owed END,
    earned = greatest(0, a.earned + EXCLUDED.earned),
    at_risk = greatest(0, a.at_risk + EXCLUDED.at_risk),
    hour = greatest(a.hour, EXCLUDED.hour),
    burned = CASE WHEN EXCLUDED.hour > a.hour THEN 0 ELSE a.burned END + CASE WHEN EXCLUDED.hour < a.hour THEN 0 ELSE EXCLUDED.burned END
$$;

CREATE FUNCTION facilitator.answering(kind text, burned bigint, merchant_id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN burned > 0 OR kind IN ('refund', 'deposit_refund') THEN NULL ELSE merchant_id END
$$;

CREATE FUNCTION facilitator.count_inserted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM facilitator.count_changes(array_agg(ROW(1, chain_id, payer, facilitator.answering(kind, burned, merchant_id), code, backer,
    cost - fee, earned, at_risk, burned, unpaid, day, hour)::facilitator.change)) FROM after;
  RETURN NULL;
END $$;

-- Another try, of another intent, adds to what the one before counted for: its payer may run other code by now.
CREATE FUNCTION facilitator.count_updated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM facilitator.count_changes(array_agg(ROW(sign, chain_id, payer, facilitator.answering(kind, burned, merchant_id), code, backer,
    cost - fee, earned, at_risk, burned, unpaid, day, hour)::facilitator.change)) FROM (SELECT 1 AS sign, * FROM after UNION ALL
      SELECT -1, b.* FROM before b JOIN after a USING (chain_id, payer, nonce) WHERE a.intent_id = b.intent_id) changed;
  RETURN NULL;
END $$;

CREATE TRIGGER count_inserted AFTER INSERT ON facilitator.settlements
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION facilitator.count_inserted();
CREATE TRIGGER count_updated AFTER UPDATE ON facilitator.settlements
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION facilitator.count_updated();
