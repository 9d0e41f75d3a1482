-- expand: ERC-8004 feedback and registration files, which are shown and never counted

-- The newest feedback about each agent, as ERC-8004 has it. Anybody may give any amount of it for its gas, so the indexer deletes what is
-- older than the newest of each client and of each agent, and shortens texts.
CREATE TABLE chain.feedback (
  chain_id       bigint      NOT NULL,
  agent_id       bigint      NOT NULL,
  client         bytea       NOT NULL,
  -- Which one of this client about this agent, from 1.
  feedback_index bigint      NOT NULL,
  block_number   bigint      NOT NULL,
  log_index      integer     NOT NULL,
  -- Times 10^value_decimals.
  value          numeric(39) NOT NULL,
  value_decimals integer     NOT NULL,
  tag1           text        NOT NULL,
  tag2           text        NOT NULL,
  endpoint       text        NOT NULL,
  feedback_uri   text        NOT NULL,
  feedback_hash  bytea       NOT NULL,
  given_at       timestamptz NOT NULL,
  is_revoked     boolean     NOT NULL,
  PRIMARY KEY (chain_id, agent_id, client, feedback_index)
);
CREATE INDEX feedback_by_time ON chain.feedback (chain_id, agent_id, block_number DESC, log_index DESC);
SELECT indexer.mirror('chain.feedback');

-- How much feedback there was, with what is no longer kept.
CREATE TABLE chain.feedback_counts (
  chain_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  given    bigint NOT NULL,
  revoked  bigint NOT NULL,
  PRIMARY KEY (chain_id, agent_id)
);
SELECT indexer.mirror('chain.feedback_counts');

-- The registration files of agents and merchants that are registered here, and the queue in which their URIs are read.
CREATE TABLE market.registrations (
  chain_id     bigint      NOT NULL,
  agent_id     bigint      NOT NULL,
  next_read_at timestamptz NOT NULL DEFAULT now(),
  failures     integer     NOT NULL DEFAULT 0,
  -- The URI that the file was read from. The file is shown while the identity has this very URI.
  uri          text,
  file         jsonb,
  read_at      timestamptz,
  PRIMARY KEY (chain_id, agent_id)
);
CREATE INDEX registrations_to_read ON market.registrations (next_read_at);

INSERT INTO market.registrations (chain_id, agent_id)
SELECT chain_id, agent_id FROM market.agents WHERE registered_at IS NOT NULL
UNION SELECT chain_id, merchant_id FROM market.merchants;
