import { z } from 'zod'
import { accountShown, hex32, wholeNumber } from '../../kit/fields.ts'

/** What the source says of a resource; unknown fields are left out. */
const Described = z.object({
  price: z.union([z.string(), z.number()]).optional().meta({
    about:
      'The price of the first payment option, unchanged from the source: usually in base units of its asset.',
  }),
  accepts: z.array(z.unknown()).meta({ about: 'All payment options, unchanged from the source.' }),
  name: z.string().optional(),
  description: z.string().optional(),
  category: z.string().optional(),
  type: z.string().optional(),
  last_updated: z.union([z.string(), z.number()]).optional(),
  quality: z.unknown().optional().meta({ about: 'The rating by the catalogue.' }),
  api: z
    .object({
      input_method: z.string().optional(),
      input_type: z.string().optional(),
      output_example: z.unknown().optional(),
      schema: z.unknown().optional(),
    })
    .optional()
    .meta({ about: 'How to call it.' }),
})
export type Described = z.output<typeof Described>

export const Item = z
  .object({
    resource: z.string().meta({ about: 'An http or https address.' }),
    pay_to: z
      .string()
      .meta({ about: 'The address under which it was found; empty if it is from a manifest.' }),
    source: z.enum(['catalogue', 'manifest']),
    status: z.enum(['discoverable', 'published', 'referral_mode']).meta({
      about:
        'referral_mode: it pays through the split router. published: it is a product of the merchant here.',
    }),
    product_id: hex32.optional().meta({ about: 'The product that is sold at this address.' }),
    ...Described.shape,
  })
  .meta({ id: 'DiscoveredResource' })

export const Discovered = z
  .object({
    merchant_id: wholeNumber,
    chain_id: wholeNumber,
    pay_tos: z.array(accountShown).meta({ about: 'The addresses that were searched, in this order.' }),
    items: z.array(Item).meta({ about: 'Those of the catalogue first; each resource once.' }),
  })
  .meta({ id: 'MerchantDiscovery' })
