// The rows of a market, as SQL: what the indexer and the doors would have written, and what the workers would have made of it.
import type { Transaction } from '@referrer/database'
import { evidenceOf, productTextHash } from '@referrer/service/testing'
import { reviewTexts } from './catalogue.ts'
import { DIMS } from './vectors.ts'

export const REVIEWS_EACH = 10
/** Of a product whose price nobody knows; in base units. */
export const LEAST_PRICE = 10_000
const THEMES = 60
const TEXTS = 40
const TODAY = 'floor(extract(epoch FROM now()) / 86400)'
const ENDPOINT = `'https://shop.example/' || n`
/** A tenth of the merchants belongs to the owner of an agent: this one. */
const seller = (merchant: string, agents: number) => `1 + ${merchant} * 31 % ${agents}`
/** The number of a product's review. */
const reviewId = (r: string, each: number) => `(n - 1) * ${each} + ${r} + 1`

/** What is sent row by row; all else is made of it. */
export const STAGE = `
  CREATE UNLOGGED TABLE stage (n bigint, merchant_id bigint, product_id bytea, theme int, name text, category text, description text,
    price bigint, rank float8, is_open boolean, vector bytea);
  CREATE UNLOGGED TABLE review_texts (theme int, place int, content text, satisfaction float8, evidence text)`

const account = (number: string) => `decode(lpad(to_hex((${number})::bigint), 40, '0'), 'hex')`
const hash = (number: string) => `sha256(convert_to('text ' || (${number}), 'UTF8'))`
/** As long as the token of a ref link is. */
const token = (number: string) => `repeat(md5((${number})::text), 18)`

/** How many there are of whom. Agents are numbered from 1, merchants after them. */
const agentsOf = (products: number) => Math.max(100, Math.floor(products / 10))
const merchantsOf = (products: number) => Math.max(10, Math.floor(products / 20))
export const merchantOf = (n: number, products: number): number =>
  agentsOf(products) + 1 + (n % merchantsOf(products))

/** A text, and the words that a product with this and the following texts is known by. */
export function* reviewTextRows(): Generator<unknown[]> {
  for (const [theme, texts] of reviewTexts(THEMES, TEXTS).entries()) {
    for (const [place, { rating, description }] of texts.entries()) {
      const voices = Array.from({ length: REVIEWS_EACH }, (_, r) => ({
        owner: String(r),
        content: JSON.stringify(texts[(place + r) % TEXTS]),
      }))
      yield [theme, place, JSON.stringify({ rating, description }), (rating - 1) / 4, evidenceOf(voices)]
    }
  }
}

/** Some agents sell, are flagged, were sold lately, or have no rank yet. */
export function recordRows(chainId: number, products: number): string[] {
  const agents = agentsOf(products)
  const allAgents = `generate_series(1, ${agents}::bigint) AS n`
  const allMerchants = `generate_series(${agents + 1}, ${agents + merchantsOf(products)}::bigint) AS n`
  const owner = (merchant: string) =>
    `CASE WHEN ${merchant} % 10 = 0 THEN ${account(seller(merchant, agents))} ELSE ${account(`1000000 + ${merchant}`)} END`
  return [
    `INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at, transferred_at)
     SELECT ${chainId}, n, ${account('n')}, ${account('0')}, '', now(), CASE WHEN n % 97 = 0 THEN now() - interval '3 days' END
     FROM ${allAgents}
     UNION ALL SELECT ${chainId}, n, ${owner('n')}, ${account('0')}, '', now(), NULL FROM ${allMerchants}`,
    `INSERT INTO market.agents (chain_id, agent_id, flagged) SELECT ${chainId}, n, n % 101 = 0 FROM ${allAgents}`,
    `INSERT INTO market.unheard_voters SELECT chain_id, agent_id FROM market.agents WHERE flagged`,
    `INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off, day)
     SELECT ${chainId}, n, n * 7919 % 1000 / 1000.0, n * 104729 % 1000 / 1000.0, ${TODAY} FROM ${allAgents} WHERE n % 4 <> 0`,
    `INSERT INTO market.rank_sums
     SELECT chain_id, sum(repeat::numeric), count(repeat), sum(one_off::numeric), count(one_off) FROM market.review_ranks GROUP BY 1`,
    `INSERT INTO chain.merchants SELECT ${chainId}, n, true, false, ${owner('n')}, NULL FROM ${allMerchants}`,
    `INSERT INTO market.merchants (chain_id, merchant_id) SELECT ${chainId}, n FROM ${allMerchants}`,
    `INSERT INTO chain.products
     SELECT ${chainId}, merchant_id, product_id, 500, coalesce(price, ${LEAST_PRICE}), n % 2, '', is_open, now() FROM stage`,
    `INSERT INTO market.products
       (chain_id, merchant_id, product_id, endpoint_url, name, description, category, rank, described_at, linked_endpoint)
     SELECT ${chainId}, merchant_id, product_id, ${ENDPOINT}, name, description, category, rank, now(), ${ENDPOINT} FROM stage`,
    `INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, price, seen_at, asked_at, ask_at)
     SELECT ${chainId}, merchant_id, product_id, ${ENDPOINT}, price, now(), now(), now() + interval '1 day' FROM stage`,
  ]
}

/** So many for each product, with what the workers keep of them; a product is known by the words of ten in any case. */
export function reviewRows(chainId: number, products: number, each: number): string[] {
  const agents = agentsOf(products)
  return [
    // The first review of a product is the seller's own where it can be.
    `INSERT INTO market.reviews (internal_id, chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
       cashback_bps, content, content_hash, satisfaction_score, author_owner, ref_token, ref_review_id)
     OVERRIDING SYSTEM VALUE
     SELECT id, ${chainId}, author, merchant_id, product_id, hash, 2, id, 100, content, hash, satisfaction, ${account('author')},
       ${token('id')}, id
     FROM stage CROSS JOIN generate_series(0, ${each - 1}) AS r
     CROSS JOIN LATERAL (
       SELECT ${reviewId('r', each)} AS id,
         CASE WHEN r = 0 AND merchant_id % 10 = 0 THEN ${seller('merchant_id', agents)} ELSE 1 + (n * 7919 + r * 1009) % ${agents} END AS author
     ) AS chosen
     CROSS JOIN LATERAL (SELECT ${hash('id')} AS hash) AS hashed
     JOIN review_texts AS t ON t.theme = stage.theme % ${THEMES} AND t.place = (n + r) % ${TEXTS}`,
    `SELECT setval(pg_get_serial_sequence('market.reviews', 'internal_id'), ${products * each})`,
    `INSERT INTO chain.reviews
     SELECT chain_id, internal_id, internal_id, agent_id, merchant_id, product_id, content_hash, 2, proof_id,
       now() - internal_id * 7919 % 400 * interval '1 day'
     FROM market.reviews`,
    `INSERT INTO market.product_reviews SELECT ${chainId}, merchant_id, product_id, ${each} FROM stage`,
    `INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
     SELECT ${chainId}, merchant_id, product_id, is_open, ${each},
       ARRAY(SELECT ${reviewId('r', each)} FROM generate_series(0, ${each - 1}) AS r), evidence
     FROM stage JOIN review_texts AS t ON t.theme = stage.theme % ${THEMES} AND t.place = n % ${TEXTS}`,
  ]
}

/** Of products without reviews. */
export const listingRows = (chainId: number): string[] => [
  `INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
   SELECT ${chainId}, merchant_id, product_id, is_open, 0, '{}', '' FROM stage`,
]

/** Where the workers would have put them; a review lies where its product does. */
export async function fillVectors(
  tx: Transaction,
  chainId: number,
  embedderId: string,
  each: number,
): Promise<void> {
  await tx`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${embedderId}, ${DIMS}, now())`
  await tx`
    INSERT INTO market.product_vectors (embedder_id, chain_id, merchant_id, product_id, text_hash, vector)
    SELECT ${embedderId}, ${chainId}, p.merchant_id, p.product_id, ${productTextHash(tx)}, p.vector FROM stage AS p`
  await tx`
    INSERT INTO market.review_vectors (embedder_id, internal_id, text_hash, vector)
    SELECT ${embedderId}, m.internal_id, m.content_hash, p.vector
    FROM market.reviews AS m JOIN stage AS p ON p.n = (m.internal_id - 1) / ${each} + 1`
}
