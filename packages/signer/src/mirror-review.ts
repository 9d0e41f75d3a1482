// Repeats a review of a purchase as feedback in the ERC-8004 reputation registry of the network. Only the author asks for it, and once.
import { join } from 'node:path'
import { ContentHash, Feedback, ProtocolError } from '@referrer/protocol'
import { reputationRegistryAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import {
  type Abi,
  type Address,
  type ContractFunctionReturnType,
  type Hash,
  type Hex,
  isAddressEqual,
  parseEventLogs,
} from 'viem'
import { z } from 'zod'
import { withBackend } from './backend.ts'
import { type Chain, connect } from './chain/chain.ts'
import { deploymentOf } from './chain/deployment.ts'
import { readRevert } from './chain/reverts.ts'
import { awaitEarlier, eventNotFound, send } from './chain/send.ts'
import { marketUrl } from './config.ts'
import type { Context } from './context.ts'
import { readRecord, saveRecord } from './jobs/record.ts'
import { jsonOf } from './purchase/link.ts'
import { withLock } from './purchase/lock.ts'
import { Refused } from './refused.ts'

interface Wish {
  agentId: bigint
  reviewId: bigint
  wanted: number | undefined
  isDry: boolean
}

export interface Mirrored {
  registry: Address
  merchantId: bigint
  value: number
  uri: string
  hash: Hex
  /** Undefined when nothing was sent. */
  transaction?: Hash
  /** Which one of this wallet about this merchant. */
  index?: bigint
}

type Review = ContractFunctionReturnType<typeof reviewRegistryAbi, 'view', 'getReview'>

/** The kind of proof that is a purchase. */
const BY_ESCROW = 2
const MAX_BYTES = 128 * 1024
/** As many as the marketplace keeps of a client about one merchant. */
const LISTED = 100

/** The transaction of a mirror, stored before it is sent. */
const Sent = z.object({
  transaction: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .transform((text) => text as Hash),
})
const Listed = z.object({
  feedback: z.array(z.object({ feedback_index: z.int(), feedback_uri: z.string() })),
})
const Product = z.object({ endpoint_url: z.string().max(2_048).default('') }).catch({ endpoint_url: '' })

export async function mirrorReview(context: Context, wish: Wish): Promise<Mirrored> {
  const { agentId, reviewId } = wish
  const account = context.config.keys.ofAgent(agentId)
  const { contracts, publicUrl } = await deploymentOf(context)
  const chain = await connect(context, wish.wanted)
  const registry = await requireRegistry(chain, contracts.ReputationRegistry, contracts.IdentityRegistry)
  const review = await chain.client
    .readContract({
      address: contracts.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'getReview',
      args: [reviewId],
    })
    .catch((error: unknown) => {
      throw readRevert(error)
    })
  if (review.agentId !== agentId) {
    throw new Refused(`not the author: review ${reviewId} is of agent ${review.agentId}`)
  }
  if (review.proofKind !== BY_ESCROW) {
    throw new Refused(`wrong proof type: review ${reviewId} does not rest on a purchase`)
  }
  const text = await readFile(context, chain, reviewId)
  const file = readFeedback(text)
  requireTrue(file, {
    review,
    reviewId,
    chainId: chain.chainId,
    identityRegistry: contracts.IdentityRegistry,
    client: account.address,
  })
  const { merchantId, productId } = review
  const uri = Feedback.urlOf(publicUrl, chain.chainId, reviewId)
  const feedback: Mirrored = {
    registry,
    merchantId,
    value: Feedback.scoreOf(file.rating),
    uri,
    hash: Feedback.hash(text),
  }
  const call = {
    address: registry,
    abi: reputationRegistryAbi,
    functionName: 'giveFeedback',
    args: [
      merchantId,
      BigInt(feedback.value),
      0,
      Feedback.TAG,
      Feedback.tagOf(productId),
      await endpointOf(context, chain, review),
      uri,
      feedback.hash,
    ],
  } as const
  const { SIGNER_STATE_DIR: stateDir } = context.config
  const name = `mirror-${chain.chainId}-${account.address.toLowerCase()}`
  const path = join(stateDir, 'mirrors', `${chain.chainId}-${registry.toLowerCase()}-${reviewId}.json`)
  return withLock(stateDir, name, context.timeouts.lock, async (requireHeld) => {
    const earlier = await readRecord(path, Sent)
    if (earlier) await awaitEarlier(context, chain, earlier.transaction)
    await requireFirst(context, chain, { registry, merchantId, productId, client: account.address, uri })
    if (wish.isDry) {
      await chain.client
        .simulateContract({ account, ...call, abi: call.abi as Abi })
        .catch((error: unknown) => {
          throw readRevert(error)
        })
      return feedback
    }
    await requireHeld()
    const { logs, transactionHash } = await send(context, chain, account, call, (transaction) =>
      saveRecord(stateDir, path, { transaction }),
    )
    const event = parseEventLogs({ abi: reputationRegistryAbi, eventName: 'NewFeedback', logs }).find(
      ({ address, args }) => isAddressEqual(address, registry) && args.feedbackURI === uri,
    )
    if (!event) throw eventNotFound('NewFeedback', transactionHash)
    return { ...feedback, transaction: transactionHash, index: event.args.feedbackIndex }
  })
}

/** A registry of other identities would take the feedback as one about somebody else. */
async function requireRegistry(
  { client, chainId }: Chain,
  registry: Address | undefined,
  identities: Address,
): Promise<Address> {
  if (!registry) throw new Refused(`no reputation registry: the marketplace names none on chain ${chainId}`)
  const named = await client.readContract({
    address: registry,
    abi: reputationRegistryAbi,
    functionName: 'getIdentityRegistry',
  })
  if (!isAddressEqual(named, identities)) {
    throw new Refused(
      `no reputation registry: ${registry} is about the identities of ${named}, and the marketplace uses ${identities}`,
    )
  }
  return registry
}

async function readFile(context: Context, { chainId }: Chain, reviewId: bigint): Promise<string> {
  const url = new URL(Feedback.urlOf(marketUrl(context.config), chainId, reviewId))
  const { status, body } = await context.get(url, {
    timeoutMs: context.timeouts.answer,
    maxBytes: MAX_BYTES,
    isOurs: true,
  })
  if (status === 404) {
    throw new Refused(
      `not published: the marketplace has no text of review ${reviewId}; bring it with register_purchase_review`,
    )
  }
  if (status !== 200)
    throw new Refused(`the marketplace gives no file of review ${reviewId}: status ${status}`)
  return body.toString('utf8')
}

function readFeedback(text: string): Feedback.Feedback {
  try {
    return Feedback.parse(text)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Refused(`the marketplace gives no usable file of the review: ${error.message}`)
  }
}

interface Known {
  review: Review
  reviewId: bigint
  chainId: number
  identityRegistry: Address
  client: Address
}

/** What the marketplace says of the review must be what the chain says: the author's wallet stands for it. */
function requireTrue(file: Feedback.Feedback, known: Known): void {
  const { review } = known
  if (!isAddressEqual(file.client, known.client)) {
    throw new Refused(
      `not the author: review ${known.reviewId} was published by ${file.client}, and this key is of ${known.client}`,
    )
  }
  const { agentId, merchantId, productId } = review
  const facts: [unknown, unknown][] = [
    [file.chainId, known.chainId],
    [file.identityRegistry, known.identityRegistry],
    [file.reviewId, known.reviewId],
    [file.agentId, agentId],
    [file.merchantId, merchantId],
    [file.productId, productId],
    [file.createdAt, Number(review.publishedAt)],
    [file.rating, ratingIn(file.content)],
    [ContentHash.contentHash({ agentId, merchantId, productId, content: file.content }), review.contentHash],
  ]
  if (facts.some(([said, actual]) => said !== actual)) {
    throw new Refused(
      `the marketplace's file of review ${known.reviewId} is not what the chain says: it may be behind, try again shortly`,
    )
  }
}

const Content = z.object({ rating: z.int() })
const ratingIn = (content: string): number | undefined => {
  try {
    return Content.parse(JSON.parse(content)).rating
  } catch {
    return undefined
  }
}

/** Empty when the marketplace knows none. */
async function endpointOf(context: Context, { chainId }: Chain, { merchantId, productId }: Review) {
  const product = await withBackend(context, (ask) =>
    ask('get_merchant_product', {
      merchant_id: Number(merchantId),
      product_id: productId,
      chain_id: chainId,
    }),
  ).catch(() => ({}))
  return Product.parse(product).endpoint_url
}

interface Place {
  registry: Address
  merchantId: bigint
  productId: Hex
  client: Address
  uri: string
}

/** The chain tells what this wallet has given about the product; only events tell its URIs, and the marketplace has read them. */
async function requireFirst(context: Context, { client: node, chainId }: Chain, place: Place): Promise<void> {
  const { registry, merchantId, productId, client, uri } = place
  const [, indexes] = await node.readContract({
    address: registry,
    abi: reputationRegistryAbi,
    functionName: 'readAllFeedback',
    args: [merchantId, [client], Feedback.TAG, Feedback.tagOf(productId), false],
  })
  if (indexes.length === 0) return
  const url = new URL(
    `${marketUrl(context.config)}/v1/agent/${merchantId}/feedback?client=${client}&limit=${LISTED}&chain_id=${chainId}`,
  )
  const { status, body } = await context.get(url, {
    timeoutMs: context.timeouts.answer,
    maxBytes: 1024 * 1024,
    isOurs: true,
  })
  const listed = status === 200 ? Listed.safeParse(jsonOf(body)).data?.feedback : undefined
  const uris = new Map(listed?.map((one) => [one.feedback_index, one.feedback_uri]))
  for (const index of indexes) {
    const given = uris.get(Number(index))
    if (given === uri) throw new Refused(`already mirrored: as feedback ${index} about agent ${merchantId}`)
    if (given === undefined) {
      throw new Refused(
        `the marketplace does not tell what feedback ${index} of this wallet about agent ${merchantId} is: try again shortly; nothing was sent`,
      )
    }
  }
}
