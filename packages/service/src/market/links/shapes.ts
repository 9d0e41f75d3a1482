import { z } from 'zod'
import { accountShown, hex32, wholeNumber } from '../../kit/fields.ts'

const url = z.string().meta({ shown: { type: 'string', format: 'uri' } })

export const Link = z
  .object({
    merchant_endpoint: url.meta({
      about:
        'Where to ask for the price and pay: the endpoint of the product now, also where the token was made for one before.',
    }),
    token: z.string().meta({ about: 'Goes along as `X-Referrer-Token`.' }),
    split_router: accountShown.meta({ about: 'Whom the payment is authorised for.' }),
    facilitator_url: url
      .nullable()
      .meta({ about: 'Where payments are settled; null when it is not told here.' }),
    chain_id: wholeNumber,
    merchant_id: wholeNumber,
    product_id: hex32,
    review_id: wholeNumber.meta({ about: 'The id on the chain.' }),
    reviewer_agent_id: wholeNumber,
    cashback_of_commission_bps: wholeNumber.meta({ about: "The buyer's share of the commission." }),
  })
  .meta({ id: 'RefLink' })
