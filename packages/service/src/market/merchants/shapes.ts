import { parseWebUrl } from '@referrer/net'
// Schemas of merchants' requests and answers, for both doors.
import { z } from 'zod'
import { accountShown, bodyId, hex32, momentShown, productId, text, wholeNumber } from '../../kit/fields.ts'
import { RegistrationShown } from '../registrations/shapes.ts'

const MAX_URL = 2_048

const webUrl = text(MAX_URL, 1)
  .refine((given) => parseWebUrl(given) !== undefined)
  .meta({
    about: 'An http or https address without credentials.',
    shown: { type: 'string', format: 'uri', maxLength: MAX_URL, examples: ['https://shop.example/buy'] },
  })
const description = text(2_000).meta({ about: 'May be empty.', shown: { type: 'string', maxLength: 2_000 } })

export const Registration = z.object({
  merchant_id: bodyId.meta({ about: 'An identity that the caller owns and has opened as a merchant.' }),
})

export const ProductDescription = z.object({
  merchant_id: bodyId,
  product_id: productId,
  endpoint_url: webUrl,
  name: text(200, 1),
  description,
  category: text(64).meta({ about: 'May be empty.', shown: { type: 'string', maxLength: 64 } }),
})

export const Profile = z.object({
  merchant_id: bodyId,
  description,
  landing_page_url: z.union([z.literal(''), webUrl]).meta({
    about: 'An http or https address without credentials; empty removes the link.',
    shown: { type: 'string', maxLength: MAX_URL, examples: ['https://shop.example/', ''] },
  }),
})

export const Probe = z.object({
  resource: webUrl
    .transform((given) => new URL(given))
    .meta({
      about: 'The referral endpoint: an http or https address without credentials.',
      shown: { type: 'string', format: 'uri', maxLength: MAX_URL, examples: ['https://shop.example/buy'] },
    }),
})

export const Registered = z
  .object({ merchant_id: wholeNumber, owner_address: accountShown })
  .meta({ id: 'RegisteredMerchant' })

export const Merchant = z
  .object({
    merchant_id: wholeNumber,
    chain_id: wholeNumber,
    owner_address: accountShown,
    payout_wallet: accountShown.meta({ about: "Where the merchant's share of sales goes." }),
    status: z.enum(['active', 'inactive', 'suspended']),
    merchant_rank: z.number().nullable().meta({ about: 'Null until it is computed.' }),
    registered_at: momentShown,
    metadata_uri: z.string().optional().meta({ about: "The identity's, as it was at registration." }),
    description: z.string().optional(),
    landing_page_url: z.string().optional(),
    product_ids: z.array(hex32).meta({ about: 'Open and closed products, ascending.' }),
    registration: RegistrationShown.optional().meta({ about: 'Only of a merchant by itself.' }),
  })
  .meta({ id: 'Merchant' })

export const Merchants = z
  .object({ merchants: z.array(Merchant), total: wholeNumber, page: wholeNumber, limit: wholeNumber })
  .meta({ id: 'Merchants' })

export const StoredProfile = z
  .object({ merchant_id: wholeNumber, description: z.string(), landing_page_url: z.string() })
  .meta({ id: 'MerchantProfile' })

export const Product = z
  .object({
    merchant_id: wholeNumber,
    chain_id: wholeNumber,
    product_id: hex32,
    name: z
      .string()
      .meta({ about: 'Empty until the merchant describes the product; so are description and category.' }),
    description: z.string(),
    category: z.string(),
    commission_bps: wholeNumber.meta({
      about: 'The share of the price that is offered for a referred sale.',
    }),
    product_type: z.enum(['Repeat', 'One-off']),
    product_rank: z.number(),
    cashback_bps: z.literal(0).meta({ about: 'Retired: always 0.' }),
    endpoint_url: z.string().optional().meta({ about: 'Where the product is bought.' }),
    card_uri: z.string().optional().meta({ about: 'Where the product describes itself.' }),
  })
  .meta({ id: 'Product' })

export const Stats = z
  .object({
    conversions: wholeNumber.meta({ about: 'Referred sales.' }),
    gross_revenue_usdc: wholeNumber.meta({ about: 'What buyers paid for them, in USDC base units.' }),
    escrows_held: wholeNumber.meta({ about: 'Escrows that hold money for somebody.' }),
    escrows_settled: wholeNumber.meta({ about: 'Escrows that hold none, or no more.' }),
    products_active: wholeNumber,
    products_total: wholeNumber,
  })
  .meta({ id: 'MerchantStats' })

export const Readiness = z
  .object({
    pass: z.boolean(),
    checks: z.array(
      z.object({
        name: z.enum(['reachable', 'returns_402', 'payto_is_splitrouter', 'echoes_attribution']),
        ok: z.boolean(),
        detail: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Readiness' })
