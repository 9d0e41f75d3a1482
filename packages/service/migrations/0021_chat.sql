-- Chats that wallets are linked to, and the codes that link them in both directions.

CREATE TABLE market.chat_links (
  -- One chat for a wallet; a chat may have several wallets.
  owner      bytea       PRIMARY KEY,
  -- The messenger.
  channel    text        NOT NULL,
  -- The chat's id in that messenger.
  chat       text        NOT NULL,
  linked_at  timestamptz NOT NULL,
  -- Since when the messenger refuses messages to this chat, because its user has blocked the bot. A message from the chat clears it.
  blocked_at timestamptz
);
CREATE INDEX chat_links_of_chat ON market.chat_links (channel, chat);

-- A code that was made on the web or by a tool is redeemed in a chat and names a wallet. A code that was made in a chat is redeemed on the
-- web and names that chat. A redeemed code is deleted.
ALTER TABLE market.link_codes
  DROP COLUMN chain_id,
  DROP COLUMN agent_id,
  DROP COLUMN used_at,
  ALTER COLUMN owner DROP NOT NULL,
  ADD COLUMN channel text,
  ADD COLUMN chat text,
  -- Only of a code that was made in a chat, because the chat is told the same code again while it is valid. With it one can link a wallet
  -- of one's own to that chat, and nothing else.
  ADD COLUMN code text,
  ADD CHECK (CASE direction
    WHEN 'chat' THEN owner IS NOT NULL AND channel IS NULL AND chat IS NULL AND code IS NULL
    ELSE owner IS NULL AND channel IS NOT NULL AND chat IS NOT NULL AND code IS NOT NULL
  END);
-- One for each chat: what makes a second one replaces it when it has expired.
CREATE UNIQUE INDEX link_codes_of_chat ON market.link_codes (channel, chat) WHERE direction = 'web';
