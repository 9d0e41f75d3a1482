-- A gas limit from whoever enqueued the intent and has simulated it already; without one the sender asks the nodes for it.
ALTER TABLE sender.intents ADD COLUMN known_gas bigint CHECK (known_gas >= 21000);
