// The answers, in the form that the official client of x402's Bazaar reads.
import { z } from 'zod'
import { accountShown, hex32, wholeNumber } from '../../kit/fields.ts'

const version = z.literal(2)

const Accepts = z.object({
  scheme: z.literal('exact'),
  network: z.string().meta({ about: 'The chain, as CAIP-2 names it.' }),
  asset: accountShown.meta({ about: 'USDC.' }),
  amount: z.string().meta({ about: 'The price when the endpoint was last asked, in base units.' }),
  payTo: accountShown.meta({ about: 'The split router.' }),
  maxTimeoutSeconds: wholeNumber,
  extra: z.looseObject({ name: z.string(), version: z.string() }),
})

export const BazaarResource = z
  .object({
    resource: z.string().meta({ about: 'The endpoint of the product.' }),
    type: z.literal('http'),
    x402Version: version,
    accepts: z.array(Accepts).meta({
      about:
        'What the endpoint last offered. Empty: it made no offer, or one that is not paid to the split router.',
    }),
    lastUpdated: z.string().meta({
      about: 'When the endpoint was last seen to offer it; if never, when it was described.',
    }),
    description: z.string().optional(),
    mimeType: z.string().optional(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()).optional(),
    extensions: z
      .object({ bazaar: z.looseObject({ info: z.looseObject({}), schema: z.looseObject({}) }) })
      .meta({
        about:
          'How to call it, as its seller declares it in its 402; a plain GET where it declares nothing. `info.input.headers` has the header `X-Referrer-Token` of the link: send it.',
      }),
    metadata: z.object({
      name: z.string(),
      category: z.string(),
      referrer: z.object({
        chainId: wholeNumber,
        merchantId: wholeNumber,
        productId: hex32,
        productRank: z.number(),
        merchantRank: z.number().nullable().meta({ about: 'Null until it is computed.' }),
        reviews: wholeNumber.meta({ about: 'Published ones.' }),
        refLink: z.string().nullable().meta({
          about:
            'The link of the header `X-Referrer-Token`. Null: nobody has published a review with a link yet, and it cannot be bought before.',
        }),
      }),
    }),
  })
  .meta({ id: 'BazaarResource' })

export const BazaarResources = z
  .object({
    x402Version: version,
    items: z.array(BazaarResource).meta({ about: 'Best rank first.' }),
    pagination: z.object({
      limit: wholeNumber,
      offset: wholeNumber,
      total: wholeNumber.meta({ about: 'Of each chain, 10,000 products at most are looked at.' }),
    }),
  })
  .meta({ id: 'BazaarResources' })

export const BazaarSearch = z
  .object({
    x402Version: version,
    resources: z.array(BazaarResource).meta({ about: 'Best match first.' }),
    partialResults: z.boolean().meta({
      about:
        'Whether there may be more matches than can be read, or the index could not be asked: then try again.',
    }),
    pagination: z.object({
      limit: wholeNumber.meta({ about: 'How many there are here.' }),
      cursor: z.string().nullable().meta({ about: 'Of the next page. Null: this is the last one.' }),
    }),
  })
  .meta({ id: 'BazaarSearch' })
