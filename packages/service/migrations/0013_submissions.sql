-- Reviews that were submitted here on an approved proof, each with the commitment that the author's owner signed last and the transaction
-- of ours that brings it to the chain. One that came to nothing is followed by another when the author submits again.
CREATE TABLE market.submissions (
  proof_id         bigint      PRIMARY KEY REFERENCES market.proofs,
  internal_id      bigint      NOT NULL UNIQUE REFERENCES market.reviews,
  attempt          integer     NOT NULL,
  commitment_nonce bytea       NOT NULL,
  -- The contract takes the commitment until then.
  expires_at       timestamptz NOT NULL,
  transaction_id   bigint      NOT NULL
);

-- Routes take proofs from the owner of the agent alone; the tool takes them from anybody, and whoever decides should see the difference.
ALTER TABLE market.proofs ADD COLUMN by_owner boolean NOT NULL DEFAULT true;
ALTER TABLE market.proofs ALTER COLUMN by_owner DROP DEFAULT;
