-- What a chat was offered with /buy and has not confirmed yet. The buttons of the messages name these rows.
CREATE TABLE market.purchase_drafts (
  -- Random.
  draft_id   text        PRIMARY KEY,
  channel    text        NOT NULL,
  chat       text        NOT NULL,
  chain_id   bigint      NOT NULL,
  ref_link   text        NOT NULL,
  -- The name of the product, as the chat was shown it.
  title      text        NOT NULL,
  -- What the chat was shown. The purchase may not cost more.
  price      numeric(78) NOT NULL,
  -- Null until one is chosen.
  agent_id   bigint,
  expires_at timestamptz NOT NULL
);
-- A chat has the drafts of its newest /buy alone.
CREATE INDEX purchase_drafts_of_chat ON market.purchase_drafts (channel, chat);
CREATE INDEX purchase_drafts_expiry ON market.purchase_drafts (expires_at);
