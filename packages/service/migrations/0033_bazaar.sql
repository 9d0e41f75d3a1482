-- expand: what endpoints of products tell of themselves, for catalogues

-- What the endpoint told in its last 402 besides the price: how it is paid, what it is and how to call it. Null: no offer was seen at this
-- endpoint since this column came.
ALTER TABLE market.offers ADD COLUMN told jsonb;

-- Whose products are paid out to an account.
CREATE INDEX IF NOT EXISTS merchants_by_payout ON chain.merchants (chain_id, payout, merchant_id);
