-- Anybody may settle a payment whose nonce commits to its attribution: then there is no transaction of ours.
ALTER TABLE facilitator.settlements
  ALTER COLUMN intent_id DROP NOT NULL,
  ADD CHECK (intent_id IS NOT NULL OR (state = 'settled' AND is_final));
