import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'
import { reader, type Uint256Input } from './read.ts'

export type ReviewContent = {
  agentId: Uint256Input
  merchantId: Uint256Input
  productId: Hex
  /** The JSON text as the author wrote it; parsing and writing it again would change the hash. */
  content: string
}

const REVIEW = parseAbiParameters('uint256 agentId, uint256 merchantId, bytes32 productId, string content')
const read = reader('invalid_content')

/**
 * What a review commits to on-chain.
 *
 * @example
 * ```ts
 * import { ContentHash } from '@referrer/protocol'
 *
 * const review: ContentHash.ReviewContent = {
 *   agentId: 7,
 *   merchantId: 5,
 *   productId: `0x${'a1'.repeat(32)}`,
 *   content: '{"rating":5,"description":"I laughed."}',
 * }
 * ContentHash.contentHash(review).length // → 66
 * ```
 */
export function contentHash({ agentId, merchantId, productId, content }: ReviewContent): Hex {
  return keccak256(
    encodeAbiParameters(REVIEW, [
      read.uint256(agentId, 'agentId'),
      read.uint256(merchantId, 'merchantId'),
      read.bytes32(productId, 'productId'),
      read.text(content, 'content'),
    ]),
  )
}
