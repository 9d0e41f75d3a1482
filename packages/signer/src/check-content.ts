// Asks the marketplace whether it would accept a review, before gas is spent on publishing its hash.
import type { Hex } from 'viem'
import { z } from 'zod'
import { withBackend } from './backend.ts'
import type { Context } from './context.ts'
import { whole } from './fields.ts'
import { explain, Refused } from './refused.ts'

const Checked = z.object({
  valid: z.boolean(),
  problem: z.string().optional(),
  content_needs: z.unknown().optional(),
})

interface Draft {
  chainId: number
  merchantId: bigint
  productId: Hex
  content: string
}

/** Throws when the marketplace would refuse the review. Returns a note when that could not be checked: the content can still be corrected later. */
export async function checkContent(
  context: Context,
  { chainId, merchantId, productId, content }: Draft,
): Promise<string[]> {
  const draft = {
    merchant_id: whole(merchantId, 'merchant'),
    product_id: productId,
    content_json: content,
    chain_id: chainId,
  }
  let checked: z.output<typeof Checked>
  try {
    checked = Checked.parse(await withBackend(context, (ask) => ask('check_review_content', draft)))
  } catch (error) {
    const why = error instanceof z.ZodError ? 'its answer cannot be read' : explain(error)
    return [
      `The marketplace did not say beforehand whether it takes this content (${why}): if it refuses it, correct it with update_review_content_onchain.`,
    ]
  }
  if (checked.valid) return []
  const needs = checked.content_needs === undefined ? '' : `, where ${JSON.stringify(checked.content_needs)}`
  throw new Refused(
    `the marketplace would refuse this review: ${checked.problem ?? 'it does not say why'}${needs}. Correct content_json; nothing was published`,
  )
}
