-- Indexes that the lists of an agent need.

-- Two purchases in one block have the same time: without the id the newer one is not first. Holds what escrows_of_bought_product did.
CREATE INDEX escrows_of_bought_product_newest
  ON chain.escrows (chain_id, buyer_agent_id, merchant_id, product_id, deposited_at DESC, escrow_id DESC);
DROP INDEX chain.escrows_of_bought_product;

-- An agent's reviews with those that are not on the chain yet, newest first.
CREATE INDEX reviews_of_agent ON market.reviews (chain_id, agent_id, internal_id DESC);
