// ERC-8004 feedback that repeats a review of this market for readers of the network's reputation registry.
import { type Address, type Hex, keccak256, stringToBytes } from 'viem'
import { ProtocolError } from './error.ts'
import { parseJson } from './json.ts'
import { reader, type Uint256Input } from './read.ts'

/**
 * A published review that a purchase proves, as feedback about its merchant.
 *
 * @example
 * ```ts
 * import type { Feedback } from '@referrer/protocol'
 *
 * export const shown = ({ merchantId, rating }: Feedback.Feedback) => `agent ${merchantId}: ${rating} of 5`
 * ```
 */
export type Feedback = {
  chainId: number
  identityRegistry: Address
  /** Whom the feedback is about: a merchant is an agent of the identity registry. */
  merchantId: Uint256Input
  /** The wallet of the review's author. */
  client: Address
  /** When the review was published, in Unix seconds. */
  createdAt: number
  /** 1 to 5. */
  rating: number
  reviewId: Uint256Input
  /** The review's author. */
  agentId: Uint256Input
  productId: Hex
  /** The review as its author wrote it. */
  content: string
  /** The purchase: who paid, the escrow that holds the commission, and the transaction. */
  payment: { from: Address; escrow: Address; transaction: Hex }
}

/**
 * The first tag of every feedback that repeats a review of a Referrer market.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.TAG // → 'referrer'
 * ```
 */
export const TAG = 'referrer'

const PATH = /^\/v1\/review\/(0|[1-9]\d{0,15})\/feedback$/
const MAX_CHARS = 65_536
const read = reader('invalid_feedback')

/**
 * A rating of 1 to 5 as the standard's value of 0 to 100, without decimals.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.scoreOf(4) // → 75
 * ```
 */
export const scoreOf = (rating: number): number => (read.integer(rating, 'rating', 1, 5) - 1) * 25

/**
 * The second tag: the first four bytes of the product's id.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.tagOf(`0x${'a1'.repeat(32)}`) // → '0xa1a1a1a1'
 * ```
 */
export const tagOf = (productId: Hex): string => read.bytes32(productId, 'productId').slice(0, 10)

/**
 * Where a market serves the file of a review's feedback.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.urlOf('https://market.test', 8453, 7)
 * // → 'https://market.test/v1/review/7/feedback?chain_id=8453'
 * ```
 */
export const urlOf = (marketUrl: string, chainId: number, reviewId: Uint256Input): string =>
  `${marketUrl}/v1/review/${read.uint256(reviewId, 'reviewId')}/feedback?chain_id=${chainId}`

/**
 * The review that a URL names, when it is one of this market and chain.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.reviewIn('https://market.test', 8453, 'https://other.test/v1/review/7/feedback?chain_id=8453')
 * // → undefined
 * ```
 */
export function reviewIn(marketUrl: string, chainId: number, url: string): bigint | undefined {
  const end = `?chain_id=${chainId}`
  if (!url.startsWith(marketUrl) || !url.endsWith(end)) return undefined
  const [, id] = PATH.exec(url.slice(marketUrl.length, -end.length)) ?? []
  return id === undefined ? undefined : BigInt(id)
}

/**
 * The file, in the standard's form. The same feedback always has the same text, whose hash goes on the chain.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * declare const feedback: Feedback.Feedback
 * export const feedbackHash = Feedback.hash(Feedback.serialize(feedback))
 * ```
 */
export function serialize(feedback: Feedback): string {
  const { chainId, payment } = feedback
  const text = JSON.stringify({
    agentRegistry: `eip155:${read.integer(chainId, 'chainId', 1)}:${read.address(feedback.identityRegistry, 'identityRegistry')}`,
    agentId: numberOf(feedback.merchantId, 'merchantId'),
    clientAddress: `eip155:${chainId}:${read.address(feedback.client, 'client')}`,
    createdAt: `${new Date(read.integer(feedback.createdAt, 'createdAt', 0, 253_402_300_799) * 1_000).toISOString().slice(0, 19)}Z`,
    value: scoreOf(feedback.rating),
    valueDecimals: 0,
    tag1: TAG,
    tag2: tagOf(feedback.productId),
    proofOfPayment: {
      fromAddress: read.address(payment.from, 'payment.from'),
      toAddress: read.address(payment.escrow, 'payment.escrow'),
      chainId: String(chainId),
      txHash: read.bytes32(payment.transaction, 'payment.transaction'),
    },
    review: {
      id: numberOf(feedback.reviewId, 'reviewId'),
      agentId: numberOf(feedback.agentId, 'agentId'),
      productId: read.bytes32(feedback.productId, 'productId'),
      content: read.text(feedback.content, 'content'),
    },
  })
  if (text.length > MAX_CHARS) throw new ProtocolError('too_large', 'the feedback is too long')
  return text
}

/**
 * Reads what `serialize` wrote. Nothing of it is true because it is well-formed: compare it with the chain.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * declare const text: string
 * export const { content } = Feedback.parse(text)
 * ```
 */
export function parse(text: string): Feedback {
  if (text.length > MAX_CHARS) throw new ProtocolError('too_large', 'the feedback is too long')
  const file = read.record(parseJson(text), 'the feedback')
  const review = read.record(file.review, 'review')
  const paid = read.record(file.proofOfPayment, 'proofOfPayment')
  const [, chain = '', identityRegistry] = read.text(file.agentRegistry, 'agentRegistry').split(':')
  const [, , client] = read.text(file.clientAddress, 'clientAddress').split(':')
  const feedback: Feedback = {
    chainId: read.integer(Number(chain), 'chainId', 1),
    identityRegistry: read.address(identityRegistry, 'agentRegistry'),
    merchantId: read.uint256(file.agentId, 'agentId'),
    client: read.address(client, 'clientAddress'),
    createdAt: read.integer(Date.parse(read.text(file.createdAt, 'createdAt')) / 1_000, 'createdAt'),
    rating: read.integer(file.value, 'value', 0, 100) / 25 + 1,
    reviewId: read.uint256(review.id, 'review.id'),
    agentId: read.uint256(review.agentId, 'review.agentId'),
    productId: read.bytes32(review.productId, 'review.productId'),
    content: read.text(review.content, 'review.content'),
    payment: {
      from: read.address(paid.fromAddress, 'fromAddress'),
      escrow: read.address(paid.toAddress, 'toAddress'),
      transaction: read.bytes32(paid.txHash, 'txHash'),
    },
  }
  if (serialize(feedback) !== text) {
    throw new ProtocolError('invalid_feedback', 'the feedback is not written as this market writes it')
  }
  return feedback
}

/**
 * The standard's `feedbackHash` of a file.
 *
 * @example
 * ```ts
 * import { Feedback } from '@referrer/protocol'
 *
 * Feedback.hash('{}').length // → 66
 * ```
 */
export const hash = (text: string): Hex => keccak256(stringToBytes(read.text(text, 'the feedback')))

/** Ids are numbers in the standard's files. */
const numberOf = (value: Uint256Input, what: string): number =>
  read.integer(Number(read.uint256(value, what)), what)
