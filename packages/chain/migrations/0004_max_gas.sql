-- What a transaction may take at the most, of those whose cost somebody else decides: one that would take more is not sent.
ALTER TABLE sender.intents ADD COLUMN max_gas bigint CHECK (max_gas >= 21000);
