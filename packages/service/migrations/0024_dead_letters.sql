-- Messages to chats that were given up: the messenger refused them for good, or could not be reached for a day. Kept for the operator.
CREATE TABLE market.dead_letters (
  letter_id bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  channel   text        NOT NULL,
  chat      text        NOT NULL,
  -- The idempotency key that the message was sent with.
  key       text        NOT NULL,
  text      text        NOT NULL,
  reason    text        NOT NULL,
  buried_at timestamptz NOT NULL,
  UNIQUE (channel, key)
);
CREATE INDEX dead_letters_by_time ON market.dead_letters (buried_at, letter_id);
