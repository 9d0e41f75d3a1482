import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import type { Sql } from '@referrer/database'
import { testConfig } from '../../doors/http/testing.ts'

export const DIMS = 4

export interface Asked {
  model: string
  input: string[]
  authorization: string | undefined
}

export interface Answer {
  status?: number
  headers?: Record<string, string>
  body: string
}

export interface EmbeddingServer {
  url: string
  asked: Asked[]
  /** The answer to a request, possibly late; undefined: the vectors of its texts. */
  respond: (asked: Asked) => Answer | undefined | Promise<Answer | undefined>
  close(): Promise<void>
}

/** The vector that the server makes of a text: its length and its first characters. */
export const vectorOf = (text: string): number[] => [
  text.length,
  ...Array.from({ length: DIMS - 1 }, (_, at) => (text.codePointAt(at) ?? 0) / 10),
]

const vectorsOf = (input: readonly string[]) =>
  JSON.stringify({ data: input.map((text, index) => ({ index, embedding: vectorOf(text) })) })

/** A server with the embeddings API of OpenAI. */
export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { model, input } = JSON.parse(await readText(request))
    const asked = { model, input, authorization: request.headers.authorization }
    if (request.url !== '/v1/embeddings') return response.writeHead(404).end()
    server.asked.push(asked)
    const { status = 200, headers = {}, body } = (await server.respond(asked)) ?? { body: vectorsOf(input) }
    return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
  const http = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: EmbeddingServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    asked: [],
    respond: () => undefined,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections()
        http.close(() => resolve())
      }),
  }
  return server
}

/** The settings of a service that uses this server. */
export const endpointConfig = (url: string, model = 'small') =>
  testConfig({
    EMBEDDER: 'endpoint',
    EMBEDDINGS_URL: url,
    EMBEDDINGS_MODEL: model,
    EMBEDDINGS_DIMENSIONS: String(DIMS),
    EMBEDDINGS_KEY: 'sk-hidden',
  })

/** A promise that a test resolves. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return { passed: promise, open: () => resolve(undefined) }
}

/** A product with a listing and, if given, a published review on its shortlist. */
export async function listProduct(
  sql: Sql,
  chainId: number,
  { name, number, review }: { name: string; number: number; review?: string },
): Promise<{ merchantId: bigint; productId: Buffer; internalId: bigint | undefined }> {
  const [merchantId, productId] = [BigInt(number), Buffer.alloc(32, number)]
  const internalId = await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`
      INSERT INTO market.products (chain_id, merchant_id, product_id, name) VALUES (${chainId}, ${merchantId}, ${productId}, ${name})`
    if (review === undefined) return undefined
    const content = JSON.stringify({ rating: 5, description: review })
    const [row] = await tx<{ internal_id: bigint }[]>`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
        cashback_bps, content, content_hash)
      VALUES (${chainId}, 1, ${merchantId}, ${productId}, '\\x01', 1, ${number}, 0, ${content}, sha256(convert_to(${content}, 'UTF8')))
      RETURNING internal_id`
    if (!row) throw new Error('no review')
    await tx`
      INSERT INTO chain.reviews (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash,
        proof_kind, proof_id, published_at)
      VALUES (${chainId}, ${number}, ${row.internal_id}, 1, ${merchantId}, ${productId}, '\\x01', 1, ${number}, now())`
    return row.internal_id
  })
  await sql`
    INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
    VALUES (${chainId}, ${merchantId}, ${productId}, true, 0, ${internalId === undefined ? [] : [internalId]}::bigint[], '')`
  return { merchantId, productId, internalId }
}

/** A product to learn from. Owners are numbered; each has one merchant, of the same number. */
export interface Taught {
  owner: number
  name: string
  description?: string
}

let taught = 0

/** Products of many owners that are open, written at once. */
export async function teach(sql: Sql, chainId: number, products: readonly Taught[]): Promise<void> {
  const keys = products.map(() => {
    taught += 1
    return Buffer.from(String(taught).padStart(64, '0'), 'hex')
  })
  const owners = products.map(({ owner }) => BigInt(owner))
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`
      INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
      SELECT DISTINCT ${chainId}::bigint, number, substring(sha256(number::text::bytea) FOR 20), '\\x'::bytea, '', now()
      FROM unnest(${owners}::bigint[]) AS number ON CONFLICT DO NOTHING`
    await tx`
      INSERT INTO market.products (chain_id, merchant_id, product_id, name, description)
      SELECT ${chainId}, * FROM unnest(${owners}::bigint[], ${keys}::bytea[],
        ${products.map(({ name }) => name)}::text[], ${products.map(({ description = '' }) => description)}::text[])`
    await tx`
      INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
      SELECT ${chainId}, owner, key, true, 0, '{}', '' FROM unnest(${owners}::bigint[], ${keys}::bytea[]) AS k (owner, key)`
    // They are not on the chain: a worker that follows changes would close them.
    await tx`
      DELETE FROM market.pending_changes
      WHERE chain_id = ${chainId} AND (product_id = ANY(${keys}::bytea[]) OR (what = 'agent' AND subject = ANY(${owners}::bigint[])))`
  })
}
