import { z } from 'zod'
import { account, id, integer, optional, page, productId } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { describeMerchant, describeProduct } from './describe.ts'
import {
  getMerchant,
  getMerchants,
  getProduct,
  getStats,
  LISTED_PRODUCT_IDS,
  merchantsOf,
} from './operations.ts'
import { checkReadiness } from './readiness.ts'
import { registerMerchant } from './register.ts'
import {
  Merchant,
  Merchants,
  Probe,
  Product,
  ProductDescription,
  Profile,
  Readiness,
  Registered,
  Registration,
  Stats,
  StoredProfile,
} from './shapes.ts'

const tag = 'Merchants'
const DEFAULT_LIMIT = 20
const MOST = 500

const limit = integer(
  DEFAULT_LIMIT,
  `At most ${MOST}; below 1 is ${DEFAULT_LIMIT}. Left out, ${DEFAULT_LIMIT}, or ${MOST} of an owner.`,
  (number) => (number < 1 ? DEFAULT_LIMIT : Math.min(number, MOST)),
)

const merchantId = (min: 0 | 1) => z.object({ id: id(min, 'invalid merchant id', 'The merchant.') })

export const merchantRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/merchant/register',
    tag,
    summary: 'Record a merchant',
    about:
      'The caller owns the identity and has opened it as a merchant on the chain. Both are read for a few seconds before the answer is no.',
    auth: 'caller',
    body: { schema: Registration, refusal: 'invalid request' },
    takesChain: true,
    status: 201,
    response: Registered,
    refusals: {
      403: 'caller does not own this merchant',
      404: 'merchant not found on-chain',
      409: ['merchant already registered', 'merchant is not active on-chain'],
    },
    handle: ({ context, chain, caller, body }) => registerMerchant(context, chain, caller, body.merchant_id),
  }),
  route({
    method: 'POST',
    path: '/v1/merchant/product',
    tag,
    summary: 'Describe a product',
    about:
      'Sets what the chain does not tell, or edits it when repeated. Commission, type, card and whether it is open come from the chain.',
    auth: 'caller',
    body: { schema: ProductDescription, refusal: 'invalid request' },
    takesChain: true,
    response: Product,
    refusals: { 403: 'caller does not own this merchant', 404: ['merchant not found', 'product not found'] },
    handle: ({ context, chain, caller, body }) => describeProduct(context, chain, caller, body),
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/product',
    tag,
    summary: 'A product that is open for sale',
    auth: 'none',
    query: z.object({ merchant_id: id(1, 'invalid merchant_id', 'The merchant.'), product_id: productId }),
    takesChain: true,
    response: Product,
    refusals: { 404: 'product not found' },
    handle: ({ context, chain, query }) =>
      getProduct(context, chain, { merchantId: query.merchant_id, productId: query.product_id }),
  }),
  route({
    method: 'POST',
    path: '/v1/merchant/product/readiness',
    tag,
    summary: 'Check a referral endpoint',
    about:
      'Asks the endpoint once, as a buyer would before paying, and says whether it can sell through ref links. What it asks for is read from the body or, where that makes no offer, from the `PAYMENT-REQUIRED` header. An endpoint that gives no answer in 5 seconds, or one of more than 256 KiB, is not reachable. Redirects are not followed.',
    auth: 'caller',
    changes: false,
    body: { schema: Probe, refusal: 'invalid request' },
    takesChain: true,
    perSecond: 5,
    response: Readiness,
    refusals: { 400: 'host not allowed' },
    handle: ({ context, chain, body }) => checkReadiness(context, chain, body.resource),
  }),
  route({
    method: 'POST',
    path: '/v1/merchant/profile',
    tag,
    summary: 'Describe a merchant',
    auth: 'caller',
    body: { schema: Profile, refusal: 'invalid request' },
    takesChain: true,
    response: StoredProfile,
    refusals: { 403: 'caller does not own this merchant', 404: 'merchant not found' },
    handle: ({ context, chain, caller, body }) => describeMerchant(context, chain, caller, body),
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/{id}',
    tag,
    summary: 'A merchant',
    auth: 'none',
    params: merchantId(1),
    takesChain: true,
    response: Merchant,
    refusals: { 404: 'merchant not found' },
    handle: ({ context, chain, params }) => getMerchant(context, chain, params.id),
  }),
  route({
    method: 'GET',
    path: '/v1/merchant',
    tag,
    summary: 'All merchants, or those of an owner',
    about: `By ascending id. With \`owner\` those of that wallet. An entry shows the first ${LISTED_PRODUCT_IDS} product ids of its merchant; the merchant alone shows all.`,
    auth: 'none',
    query: z.object({
      owner: optional(account('invalid owner address', 'A wallet, in upper or lower case.')),
      page,
      // Without the default, which depends on the owner.
      limit: limit
        .unwrap()
        .optional()
        .meta({ ...limit.meta() }),
    }),
    takesChain: true,
    response: Merchants,
    handle({ context, chain, query: { owner, page, limit } }) {
      if (!owner) return getMerchants(context, chain, { page, limit: limit ?? DEFAULT_LIMIT })
      return merchantsOf(context, chain, { owner, page, limit: limit ?? MOST })
    },
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/stats',
    tag,
    summary: 'What a merchant sold through referrals',
    about: 'For its owner.',
    auth: 'session',
    params: merchantId(0),
    takesChain: true,
    response: Stats,
    refusals: { 403: 'caller does not own this merchant', 404: 'merchant not found' },
    handle: ({ context, chain, caller, params }) => getStats(context, chain, caller, params.id),
  }),
]
