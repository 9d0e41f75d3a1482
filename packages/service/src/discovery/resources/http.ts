import { z } from 'zod'
import { id } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { discoverResources, MOST_PAY_TOS } from './operations.ts'
import { Discovered } from './shapes.ts'

const payTo = z
  .preprocess((given) => [given ?? []].flat(), z.array(z.string()))
  .meta({
    about: `Addresses to search beside the merchant's own; may be repeated, ${MOST_PAY_TOS} at most. A client may have five of them searched in a second.`,
    shown: {
      type: 'array',
      items: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
      maxItems: MOST_PAY_TOS,
    },
  })

export const resourceRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/discovery',
    tag: 'Merchants',
    summary: 'What a merchant sells by x402',
    about:
      "Searches the catalogue of x402 resources for what pays the addresses given, the merchant's payout wallet and its owner, in this order, and reads /.well-known/x402 and /.well-known/x402.json at the merchant's hosts. A source that does not answer in three seconds is left out. Answers are cached for half a minute.",
    auth: 'none',
    params: z.object({ id: id(0, 'invalid merchant id', 'The merchant.') }),
    query: z.object({ pay_to: payTo }),
    takesChain: true,
    perSecond: 5,
    response: Discovered,
    refusals: { 400: ['invalid pay_to', 'too many pay_to values'], 404: 'merchant not found' },
    handle: ({ context, chain, client, params, query }) =>
      discoverResources(context, chain, { merchantId: params.id, payTos: query.pay_to, client }),
  }),
]
