// Dry run of a review: checks a text before the author hashes it, signs it and pays for its publication.
import type { Hex } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import { MarketError, refused } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { findProduct, type ProductRow } from '../merchants/store.ts'
import { checkText, parseContent } from './content.ts'
import { checkCategory, needsOf, reviewSchemas } from './schemas.ts'
import type { CheckedContent } from './shapes.ts'

interface Draft {
  merchantId: bigint
  productId: Hex
  contentJson: string
}

/** Reports the same message with which the text would be refused. The author and the purchase are not checked. */
export async function checkContent(
  context: Context,
  { config: { chainId } }: Chain,
  { merchantId, productId, contentJson }: Draft,
): Promise<z.output<typeof CheckedContent>> {
  const { category } = await requireListed(context, chainId, merchantId, bytesOf(productId))
  const schemas = reviewSchemas(context)
  try {
    checkText(contentJson)
    checkCategory(schemas, category, { content: parseContent(contentJson), text: contentJson })
    return { valid: true }
  } catch (error) {
    if (!(error instanceof MarketError)) throw error
    const needs = needsOf(schemas, category)
    return { valid: false, problem: error.message, ...(needs && { content_needs: needs }) }
  }
}

/** A listed product, active or not. */
export async function requireListed(
  { sql }: Pick<Context, 'sql'>,
  chainId: number,
  merchantId: bigint,
  productId: Buffer,
): Promise<ProductRow> {
  const product = await findProduct(sql, chainId, merchantId, productId)
  if (product) return product
  const what = `product ${hex(productId)} of merchant ${merchantId} is not listed`
  throw refused('not found', `${what} (or not yet indexed — retry shortly)`)
}
