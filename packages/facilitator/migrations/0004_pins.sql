-- contract: a signature is pinned before a node sees it; what is given away is one sum a day
DROP TRIGGER count_inserted ON facilitator.settlements;
DROP TRIGGER count_updated ON facilitator.settlements;
DROP FUNCTION facilitator.count_inserted, facilitator.count_updated, facilitator.answering, facilitator.count_changes;
DROP TYPE facilitator.change;
DROP TABLE facilitator.accounts;

ALTER TABLE facilitator.settlements
  DROP CONSTRAINT settlements_state_check, DROP CONSTRAINT settlements_check, DROP CONSTRAINT settlements_check1,
  DROP COLUMN code, DROP COLUMN backer, DROP COLUMN at_risk, DROP COLUMN unpaid, DROP COLUMN earned, DROP COLUMN hour, DROP COLUMN fee;
UPDATE facilitator.settlements SET message = 'the money went back to its payer' WHERE state = 'refunded';
UPDATE facilitator.settlements SET state = 'open', burned = 0 WHERE state IN ('failed', 'refunded');

ALTER TABLE facilitator.settlements
  -- open: nothing of ours is under way. It is pinned and was never sent, or was sent without effect; the same request may try again.
  ADD CHECK (state IN ('open', 'pending', 'settled')),
  ADD CHECK (state <> 'settled' OR transaction IS NOT NULL),
  ADD CHECK (state <> 'pending' OR intent_id IS NOT NULL),
  -- The end of the authorisation; null: a charged transfer.
  ADD COLUMN valid_before bigint,
  -- A transaction with the signature was sent, so that others may have it.
  ADD COLUMN was_sent boolean NOT NULL DEFAULT false,
  -- Of this try, in base units. gift: what it costs beyond its fee if it is settled as expected. risk: what it may cost beyond that. Once it
  -- is mined: what it did cost. burned (from before this file): what earlier tries did. surplus: what its fee left.
  ADD COLUMN gift    bigint NOT NULL DEFAULT 0,
  ADD COLUMN gift_of text   NOT NULL DEFAULT 'new' CHECK (gift_of IN ('new', 'merchant')),
  ADD COLUMN risk    bigint NOT NULL DEFAULT 0,
  ADD COLUMN risk_of text   NOT NULL DEFAULT 'new' CHECK (risk_of IN ('new', 'merchant', 'payer')),
  ADD COLUMN surplus bigint NOT NULL DEFAULT 0;
UPDATE facilitator.settlements SET was_sent = true;

-- What a day has cost: as many rows as the sum of a day allows.
CREATE INDEX settlements_cost ON facilitator.settlements (chain_id, day) INCLUDE (payer, merchant_id, gift, gift_of, risk, risk_of, burned)
  WHERE gift + risk + burned > 0;
-- Pins of which nothing came are deleted when they have ended.
CREATE INDEX settlements_unsent ON facilitator.settlements (valid_before) WHERE state = 'open' AND NOT was_sent;

-- Half of what the fees of a merchant or a payer have left when their gas was paid, less what was drawn on it since; of final rows.
CREATE TABLE facilitator.credits (
  chain_id bigint NOT NULL,
  kind     text   NOT NULL CHECK (kind IN ('merchant', 'payer')),
  id       bytea  NOT NULL,
  credit   bigint NOT NULL,
  PRIMARY KEY (chain_id, kind, id)
) WITH (fillfactor = 70);
