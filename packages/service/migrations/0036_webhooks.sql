-- expand: webhooks of owners, and the messages to them

CREATE TABLE market.webhooks (
  webhook_id       text        PRIMARY KEY,
  chain_id         bigint      NOT NULL,
  owner            bytea       NOT NULL,
  url              text        NOT NULL,
  -- Null: all types of messages.
  events           text[],
  description      text        NOT NULL,
  -- Messages about this agent or this merchant only. Both null: about everything that the wallet owns.
  agent_id         bigint,
  merchant_id      bigint,
  -- The secret is not stored: it derives from a key of the deployment, the id and this number.
  secret_version   integer     NOT NULL DEFAULT 1,
  -- Until then the secret before signs, too.
  old_secret_until timestamptz,
  created_at       timestamptz NOT NULL,
  -- Not null: nothing is sent there, for this reason.
  disabled_at      timestamptz,
  disabled_reason  text,
  -- The first of the attempts that failed since the last one that succeeded, and how many they are.
  failing_since    timestamptz,
  failures         integer     NOT NULL DEFAULT 0,
  -- After a failed attempt nothing is sent before this moment.
  paused_until     timestamptz,
  -- When the next message is to be tried; null: none waits.
  due_at           timestamptz,
  -- The worker that sends to it. One at a time, so that messages arrive one after the other.
  lease_token      uuid,
  lease_until      timestamptz
);
CREATE INDEX webhooks_of_owner ON market.webhooks (owner, chain_id);
CREATE INDEX webhooks_of_chain ON market.webhooks (chain_id) WHERE disabled_at IS NULL;
CREATE INDEX webhooks_due ON market.webhooks (due_at) WHERE due_at IS NOT NULL AND disabled_at IS NULL;
CREATE INDEX webhooks_disabled ON market.webhooks (disabled_at) WHERE disabled_at IS NOT NULL;

-- One message to one webhook. The row also says that the event was announced there, so that no later look at its records announces it again.
CREATE TABLE market.webhook_deliveries (
  webhook_id   text        NOT NULL REFERENCES market.webhooks ON DELETE CASCADE,
  -- The header `webhook-id`. It follows from the event and the webhook.
  delivery_id  text        NOT NULL,
  sequence     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
  type         text        NOT NULL,
  -- Null: there are too many newer ones to keep it.
  body         text,
  created_at   timestamptz NOT NULL,
  -- When it is tried next; null: it was delivered or given up.
  next_at      timestamptz,
  -- Since it was made or last replayed.
  attempts     integer     NOT NULL DEFAULT 0,
  tried_at     timestamptz,
  -- Of the last attempt. Null: there was no answer.
  status_code  integer,
  answer       text,
  delivered_at timestamptz,
  PRIMARY KEY (webhook_id, delivery_id)
);
CREATE INDEX webhook_deliveries_to_send ON market.webhook_deliveries (webhook_id, next_at, sequence) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON market.webhook_deliveries (webhook_id, created_at, sequence);
CREATE INDEX webhook_deliveries_by_age ON market.webhook_deliveries (created_at);

-- Changes that webhooks may be told of, once the chain has confirmed them. Only written while a webhook of the chain is enabled.
CREATE TABLE market.webhook_changes (
  id        bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  chain_id  bigint      NOT NULL,
  what      text        NOT NULL CHECK (what IN ('purchase', 'review', 'ballot')),
  -- Of a review or a ballot: the number of its record.
  subject   bigint,
  -- Of a purchase: its payment.
  contract  bytea,
  payer     bytea,
  nonce     bytea,
  queued_at timestamptz NOT NULL
);
CREATE INDEX webhook_changes_of_chain ON market.webhook_changes (chain_id, id);
