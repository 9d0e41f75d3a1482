import { z } from 'zod'
import { productId } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { getMerchant, getProduct } from './operations.ts'
import { checkReadiness } from './readiness.ts'
import { Merchant, Probe, Product, Readiness } from './shapes.ts'

export const merchantTools: Tool[] = [
  tool({
    name: 'get_merchant',
    title: 'A merchant and its products',
    description:
      'Who sells: owner, payout wallet, status, rank and the ids of all products. Next: get_merchant_product for one.',
    details: 'Errors: "merchant not found" — not recorded here.',
    input: z.object({ merchant_id: id('The merchant.', 3) }),
    output: Merchant,
    isReadOnly: true,
    handle: ({ context, chain, input }) => getMerchant(context, chain, input.merchant_id),
  }),
  tool({
    name: 'get_merchant_product',
    title: 'A product that is on sale',
    description:
      "A product on sale: name, description, category, type, rank, endpoint, and the commission in basis points of the price that a sale brings before the reviewer's rank multiplier.",
    details:
      'The reviews of a category may have to follow a schema. The type is Repeat or One-off. Errors: "product not found" — closed, unknown, or some seconds too new.',
    input: z.object({ merchant_id: id('The merchant.', 3), product_id: productId }),
    output: Product,
    isReadOnly: true,
    handle: ({ context, chain, input }) =>
      getProduct(context, chain, { merchantId: input.merchant_id, productId: input.product_id }),
  }),
  tool({
    name: 'check_readiness',
    title: 'Check a referral endpoint',
    description:
      'For merchants: asks an endpoint once, as a buyer would, and says whether it can sell through ref links (pass), and what is missing (checks).',
    details:
      'It must answer 402 (returns_402), ask for payment to the split router (payto_is_splitrouter; detail is the address expected) and echo the attribution token (echoes_attribution). The offer may be in the body or in the PAYMENT-REQUIRED header. pass is true when all are ok. A single check "reachable" that is not ok: no usable answer within 5 seconds; redirects are not followed. Errors: "host not allowed" — private and loopback addresses are not asked.',
    input: Probe,
    output: Readiness,
    isReadOnly: true,
    perSecond: 5,
    handle: ({ context, chain, input }) => checkReadiness(context, chain, input.resource),
  }),
]
