-- What the doors need so that strangers can neither sign in for others nor fill the disk.

-- Known to all replicas, and to nobody else.
CREATE TABLE market.secrets (
  name  text  PRIMARY KEY,
  value bytea NOT NULL
);
-- Signs the nonces of sign-ins, so that none has to be kept before it is used.
INSERT INTO market.secrets
VALUES ('sign-in nonces', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- Of a wallet that is a contract: the chain that it signed in for. Elsewhere the same address may be somebody else's.
ALTER TABLE market.sessions ADD COLUMN chain_id bigint;

-- How much was written for whom on a day (UTC): by owners, or by clients that nobody knows.
CREATE TABLE market.written (
  day   date   NOT NULL,
  what  text   NOT NULL,
  who   bytea  NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (day, what, who)
) WITH (fillfactor = 70);

-- Of one that nobody signed: a hash of the client that sent it.
ALTER TABLE market.proofs ADD COLUMN client bytea;
CREATE INDEX proofs_of_client ON market.proofs (chain_id, agent_id, client) WHERE client IS NOT NULL AND status = 'pending';
-- Those that are forgotten.
CREATE INDEX proofs_unsigned ON market.proofs (submitted_at) WHERE NOT by_owner AND status <> 'approved';
-- Admins see what owners signed first. Holds what the one before did.
CREATE INDEX proofs_to_review ON market.proofs (chain_id, status, by_owner DESC, submitted_at, proof_id);
DROP INDEX market.proofs_by_status;
-- And so do agents.
CREATE INDEX proofs_pending_of_agent ON market.proofs (chain_id, agent_id, by_owner DESC, proof_id DESC) WHERE status = 'pending';

-- Those that are forgotten before their time.
CREATE INDEX intents_withdrawn ON market.intents (closed_at) WHERE status = 'withdrawn';
