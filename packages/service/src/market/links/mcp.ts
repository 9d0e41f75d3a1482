import { ProtocolError, RefLink } from '@referrer/protocol'
import { z } from 'zod'
import { MarketError } from '../../kit/market-error.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { text } from '../../kit/tool-fields.ts'
import { resolveLink } from './operations.ts'
import { Link } from './shapes.ts'

/** The token of a ref link, or of a token that was given alone. */
function tokenOf(given: string): string {
  if (!given.includes('/')) return given
  try {
    return RefLink.parse(given).token
  } catch (error) {
    if (error instanceof ProtocolError) throw new MarketError('invalid input', 'invalid token')
    throw error
  }
}

export const linkTools: Tool[] = [
  tool({
    name: 'resolve_ref_link',
    title: 'Where a ref link leads',
    description:
      "Tells what a ref link sells: merchant, product, review, the endpoint that is paid and the buyer's share of the commission as cashback. Use it for a link from elsewhere than discover_products. Next: pay_for_product (signer), which checks all of it again.",
    details:
      'Errors: "invalid token" — not one of our links, or changed on the way: copy it again. "not found" — the product or merchant has closed, or the link is too old: take a newer one from discover_products or list_reviews.',
    input: z.object({
      ref_link: text('The link, or the token at its end.', 'https://market.example/r/eyJ2Ijo0…'),
    }),
    output: Link,
    isReadOnly: true,
    reads: 'primary',
    handle: ({ context, input }) => resolveLink(context, tokenOf(input.ref_link)),
  }),
]
