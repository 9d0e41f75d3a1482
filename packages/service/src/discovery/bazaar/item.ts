// A product as a resource of an x402 catalogue.
import { X402 } from '@referrer/protocol'
import type { z } from 'zod'
import { type Declared, headersIn, withInput } from '../../derived/offers/declared.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { hex, whole } from '../../kit/json-values.ts'
import { fieldsOf } from '../../kit/loose-json.ts'
import { refLinkOf } from '../../market/ref-tokens/link.ts'
import type { BazaarResource } from './shapes.ts'
import type { ResourceRow } from './store.ts'

/** Of a seller that declares nothing: the endpoint is called with GET. */
const UNDECLARED: Declared = {
  info: { input: { type: 'http', method: 'GET' } },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: { type: { type: 'string', const: 'http' }, method: { type: 'string', enum: ['GET'] } },
        required: ['type', 'method'],
      },
    },
    required: ['input'],
  },
}

/** `token`: of the link to buy it through. */
export function itemOf(
  context: Pick<Context, 'config'>,
  { config }: Pick<Chain, 'config'>,
  row: ResourceRow,
  token: string | undefined,
): z.output<typeof BazaarResource> {
  const { mimeType, serviceName, tags, bazaar } = row.told ?? {}
  const description = row.told?.description ?? row.description
  return {
    resource: row.endpoint_url,
    type: 'http',
    x402Version: X402.VERSION,
    accepts: acceptsOf(config, row),
    lastUpdated: row.updated_at.toISOString(),
    ...(description !== '' && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(serviceName !== undefined && { serviceName }),
    ...(tags && { tags }),
    extensions: { bazaar: throughLink(bazaar ?? UNDECLARED, token) },
    metadata: {
      name: row.name,
      category: row.category,
      referrer: {
        chainId: config.chainId,
        merchantId: whole(row.merchant_id),
        productId: hex(row.product_id),
        productRank: row.rank,
        merchantRank: row.merchant_rank,
        reviews: row.review_count,
        refLink: refLinkOf(context, { ref_token: token ?? null }) ?? null,
      },
    },
  }
}

/** What the endpoint offered. Nothing where it asks for payment to others than the split router, which has no commission. */
function acceptsOf({ chainId, contracts }: Chain['config'], { price, told }: ResourceRow) {
  const { payment } = told ?? {}
  if (!payment || price === null) return []
  const { payTo, maxTimeoutSeconds, extra } = payment
  const isRouter = (router: string) => router.toLowerCase() === payTo.toLowerCase()
  if (!contracts.SplitRouter.some(isRouter)) return []
  return [
    {
      scheme: 'exact' as const,
      network: X402.Network.from(chainId),
      asset: contracts.USDC,
      amount: String(price),
      ...{ payTo, maxTimeoutSeconds, extra },
    },
  ]
}

/** Says that the request carries the link, in the example and in the schema. */
function throughLink({ info, schema, ...rest }: Declared, token: string | undefined) {
  if (token === undefined) return { info, schema, ...rest }
  const name = X402.REFERRER_TOKEN_HEADER
  const known = headersIn(schema)
  const properties = { ...fieldsOf(known.properties), [name]: { type: 'string' } }
  const headers = { ...fieldsOf(info.input.headers), [name]: token }
  return {
    info: { ...info, input: { ...info.input, headers } },
    schema: withInput(schema, { headers: { ...known, type: 'object', properties } }),
    ...rest,
  }
}
