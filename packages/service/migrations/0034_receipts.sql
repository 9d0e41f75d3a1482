-- expand: receipts of x402 shops as proofs, which a machine verifies

-- A proof whose data has the form of a receipt. Proofs that a replica of the version before takes have no row here: admins decide on them.
CREATE TABLE market.receipts (
  proof_id         bigint      PRIMARY KEY REFERENCES market.proofs ON DELETE CASCADE,
  chain_id         bigint      NOT NULL,
  -- Of what the shop signed; null: it cannot be read.
  receipt_hash     bytea,
  -- The payment, as the receipt or the submitter names it; null: nobody does.
  transaction_hash bytea,
  -- When a machine looks at it next, and at the latest after a crash; null: never again.
  due_at           timestamptz,
  attempts         smallint    NOT NULL DEFAULT 0,
  -- Null: no machine approved the proof; an admin may have.
  approved_at      timestamptz,
  -- Why no machine has approved the proof, for admins.
  note             text
);
CREATE INDEX receipts_due ON market.receipts (due_at, proof_id) WHERE due_at IS NOT NULL;

-- The hashes of receipts and payments that an approved proof rests on: each proves once.
CREATE TABLE market.spent_receipts (
  chain_id bigint NOT NULL,
  hash     bytea  NOT NULL,
  proof_id bigint NOT NULL REFERENCES market.proofs,
  PRIMARY KEY (chain_id, hash)
);
CREATE INDEX spent_receipts_of_proof ON market.spent_receipts (proof_id);
