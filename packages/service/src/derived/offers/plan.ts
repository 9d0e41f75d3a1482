import type { Transaction } from '@referrer/database'
import type { ProductKey } from '../../kit/keys.ts'

/**
 * Must be called for every product that was opened, closed or described, in the transaction that writes its listing.
 * Schedules a request for the price of each open product. If the endpoint has changed, what is known of it is dropped.
 */
export async function planOffers(
  tx: Transaction,
  chainId: number,
  products: readonly Pick<ProductKey, 'merchantId' | 'productId'>[],
): Promise<void> {
  await tx`
    WITH named AS (
      SELECT DISTINCT merchant_id, product_id
      FROM unnest(
        ${products.map(({ merchantId }) => merchantId)}::bigint[], ${products.map(({ productId }) => productId)}::bytea[]
      ) AS named (merchant_id, product_id)
    ), sold AS (
      SELECT p.merchant_id, p.product_id, p.endpoint_url
      FROM named
      JOIN market.listings AS l ON l.chain_id = ${chainId} AND l.merchant_id = named.merchant_id
        AND l.product_id = named.product_id AND l.is_open
      JOIN market.products AS p ON p.chain_id = ${chainId} AND p.merchant_id = named.merchant_id
        AND p.product_id = named.product_id AND p.endpoint_url <> ''
    ), left_alone AS (
      UPDATE market.offers AS o SET ask_at = 'infinity'
      FROM (SELECT * FROM named EXCEPT SELECT merchant_id, product_id FROM sold) AS closed
      WHERE o.chain_id = ${chainId} AND o.merchant_id = closed.merchant_id AND o.product_id = closed.product_id
        AND o.ask_at < 'infinity'
    )
    INSERT INTO market.offers AS o (chain_id, merchant_id, product_id, endpoint_url)
    SELECT ${chainId}, merchant_id, product_id, endpoint_url FROM sold
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET
      endpoint_url = excluded.endpoint_url,
      price = CASE WHEN o.endpoint_url = excluded.endpoint_url THEN o.price END,
      told = CASE WHEN o.endpoint_url = excluded.endpoint_url THEN o.told END,
      seen_at = CASE WHEN o.endpoint_url = excluded.endpoint_url THEN o.seen_at END,
      failures = CASE WHEN o.endpoint_url = excluded.endpoint_url THEN o.failures ELSE 0 END,
      ask_at = coalesce(o.asked_at + INTERVAL '1 hour', excluded.ask_at)
    WHERE o.endpoint_url <> excluded.endpoint_url OR o.ask_at = 'infinity'`
}
