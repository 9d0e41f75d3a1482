-- expand: what a signature that names nothing may do

-- Opened by a signature over an empty body, which is the same as that of any GET of its second.
ALTER TABLE market.sessions ADD COLUMN may_only_read boolean NOT NULL DEFAULT false;

-- Whether the wallet has named the chat, so that purchases can be asked for there. Nobody knows how links and codes from before were made,
-- so their owners are asked once more.
ALTER TABLE market.chat_links ADD COLUMN may_buy boolean NOT NULL DEFAULT false;
ALTER TABLE market.link_codes ADD COLUMN may_buy boolean NOT NULL DEFAULT false;
