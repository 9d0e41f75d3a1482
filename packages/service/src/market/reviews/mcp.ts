import { z } from 'zod'
import { REVIEW_BODY } from '../../kit/body-limits.ts'
import { optional, productId } from '../../kit/fields.ts'
import { refused } from '../../kit/market-error.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id, integer, text } from '../../kit/tool-fields.ts'
import { twoStepTool } from '../commitments/mcp.ts'
import { checkContent } from './check.ts'
import { listOfProduct, listPublished, readReview, readReviewRecord } from './operations.ts'
import { registerReview, updateContent } from './register.ts'
import {
  CheckedContent,
  RegisteredReview,
  Review,
  registered,
  registrationOf,
  ShortListing,
  ShortOfProduct,
  SubmittedReview,
  submitted,
  UpdatedReview,
  updated,
  withinList,
} from './shapes.ts'
import { proposeReview, type Submission, submitReview } from './submit.ts'

const DEFAULT_LIMIT = 20

const content = text(
  'The review as JSON text: the exact characters that are hashed, so it is a string and not an object.',
  '{"rating":4,"description":"1,200 calls in a week, all answered; slow before 8:00 UTC."}',
)
const contentJson = content.meta({
  ...content.meta(),
  refusal: 'content_json must be a string: the exact JSON text of the review',
})

const CONTENT = `content_json is a JSON object as text, at most 16 KiB: rating (whole number, 1 to 5) and description (not blank, no angle brackets) always, further keys as you like. searched_for (3 to 200 characters, public): if a search led you to the product, the words of that search, as you gave them to discover_products as intent; they help others to find it, and count in a review of a purchase only. Leave it out otherwise, and whatever is private. A category with a schema asks for more; for "api": calls, successes, failures, latency_ms {p50, p95, p99}, cost_usdc, cost_per_call_usdc (both in whole USDC, such as "0.40"), where calls = successes + failures, p50 <= p95 <= p99 and cost_usdc = calls × cost_per_call_usdc.`

const onChainId = (about: string) => id(about, 18)

export const reviewTools: Tool[] = [
  tool({
    name: 'list_reviews',
    title: 'Read reviews',
    description:
      'Published reviews, newest first: the newest 100 of a product (merchant_id and product_id), or all in pages. Long texts are shortened; get_review has all of one. To find something to buy use discover_products, which ranks.',
    details:
      'A text of more than 1 KiB is shortened (content_shortened true). Next: get_review for one of them, or pay_for_product of the signer with a ref_link. Errors: "merchant_id and product_id go together" — send both or neither.',
    input: z.object({
      merchant_id: id('The merchant; goes with product_id.', 3).optional(),
      product_id: optional(productId),
      page: integer(1, 'Which page, from 1; lower is 1.', (number) => Math.max(number, 1)),
      limit: integer(DEFAULT_LIMIT, 'How many, 1 to 500; anything else is 20.', withinList(DEFAULT_LIMIT)),
    }),
    output: [ShortListing, ShortOfProduct],
    isReadOnly: true,
    handle({ context, chain, input: { merchant_id: merchantId, product_id: productId, page, limit } }) {
      const { chainId } = chain.config
      if (merchantId === undefined && productId === undefined)
        return listPublished(context, { chainId, page, limit, texts: 'short' })
      if (merchantId === undefined || productId === undefined)
        throw refused('invalid input', 'merchant_id and product_id go together')
      return listOfProduct(context, { chainId, merchantId, productId, texts: 'short' })
    },
  }),
  tool({
    name: 'get_review',
    title: 'One review',
    description:
      'One whole review, by review_id (on the chain) or internal_id (here), exactly one of them. After submit_review: ask with internal_id until status is "published", usually within a minute; then share its ref_link; get_earnings shows what it earns. comparison_outcome: whether buyers confirmed it.',
    details: `review_id is the id that transactions and ref links name; internal_id is what submit_review and register_purchase_review return and votes take. status "pending": it is not on the chain yet, or its text is not known here. Once it is published on_chain_id is there and, where the product is sold through links, ref_link. While it stays pending, the first step of submit_review tells whether it is still on its way.

Errors: "review N not found" — no such id; do not mix up the two kinds.`,
    input: z.object({
      review_id: onChainId('The id on the chain.').optional(),
      internal_id: id('The id of the record.', 31).optional(),
    }),
    output: Review,
    isReadOnly: true,
    handle({ context, chain, isChainNamed, input: { review_id: reviewId, internal_id: internalId } }) {
      const { chainId } = chain.config
      if (reviewId !== undefined && internalId === undefined) return readReview(context, chainId, reviewId)
      if (internalId !== undefined && reviewId === undefined)
        return readReviewRecord(context, internalId, isChainNamed ? chainId : undefined)
      throw refused('invalid input', 'send either review_id or internal_id')
    },
  }),
  tool({
    name: 'check_review_content',
    most: REVIEW_BODY,
    title: 'Check the text of a review before it is published',
    description:
      'Whether a text would be taken as a review of the product; changes nothing. Use it before publish_escrow_review, submit_review and update_review_content_onchain. content_json is JSON text: rating (1 to 5) and description (no angle brackets), more keys as you like; some categories ask for more, which content_needs names. valid: publish exactly these characters. Else correct what problem says.',
    details: `It goes by the rules of all reviews and by the schema of the product's category. What is on the chain is paid for, and a text that breaks the schema is never shown. Nobody has to be registered. valid false: problem is the refusal that the text would get, and content_needs is what the category asks for, where it asks for more than rating and description.

${CONTENT}

Errors: "product … is not listed" — no such product on this chain, or some seconds too new.`,
    input: z.object({
      merchant_id: id('The merchant.', 3),
      product_id: productId,
      content_json: contentJson,
    }),
    output: CheckedContent,
    isReadOnly: true,
    handle: ({ context, chain, input }) =>
      checkContent(context, chain, {
        merchantId: input.merchant_id,
        productId: input.product_id,
        contentJson: input.content_json,
      }),
  }),
  tool({
    name: 'register_purchase_review',
    most: REVIEW_BODY,
    title: 'Bring the text of a review that is on the chain',
    description:
      'After publish_escrow_review (signer): brings the text of the review, of which the chain has only the hash. Send its review_id, the escrow_id and the very same content_json. The review becomes visible, gets a ref_link that earns commission (get_earnings), and the cashback of the purchase is paid by itself (get_escrow_status). "not indexed yet": repeat in some seconds. "needs a vote": cast_review_votes first.',
    details: `For a review on an approved proof escrow_id is 0 (submit_review does this by itself). Anybody may call it; calling it again changes nothing. Next: share ref_link.

${CONTENT}

Errors: "purchase for escrow N not found (not yet indexed — retry shortly)" and "review N is published but not indexed yet — retry shortly" — wait some seconds and repeat. "review N is not published" — publish it first. "review N is not about escrow M" — another purchase. "escrow N does not belong to agent M" — bought by somebody else. "content hash mismatch" — the text differs from the published one, if only by a space. "purchase N needs a vote" — cast_review_votes first, then repeat.`,
    input: z.object({
      review_id: onChainId('The id on the chain, as publish_escrow_review returned it.'),
      escrow_id: id('The purchase that the review is about; 0 for a review on an approved proof.', 41),
      content_json: contentJson,
    }),
    output: RegisteredReview,
    isIdempotent: true,
    handle: async ({ context, chain, input }) =>
      registered(await registerReview(context, chain, registrationOf(input))),
  }),
  twoStepTool({
    name: 'submit_review',
    most: REVIEW_BODY,
    title: 'Publish a review on an approved proof',
    description:
      'Publishes the one review that an approved proof (get_proof_status) allows; the service pays the gas. For a purchase through a ref link use publish_escrow_review (signer). First check_review_content. Next: get_review with the answered review_id as internal_id, until it is published.',
    details: `The review is of the product of the proof.

${CONTENT}

The second call answers status "submitted" with review_id, the internal_id of the review. If it stays pending for minutes, make the first call again: it is refused with "is being published" while the transaction is on its way; when the transaction came to nothing, which is certain after an hour at the latest, it answers with a new commitment, for the same text or another. The review keeps its internal_id.

Errors: "proof with proof_id N not found" — not a proof of this agent on this chain. "proof N is not approved yet" — wait. "proof N was rejected" — submit a better one. "proof N is used by the review with internal_id M" — it was submitted already; look at get_review. "product … is not listed" — the merchant has not listed it on this chain. "content_json …" or an equation that "does not hold" — correct the text. "commitment expired" — begin again at the first step. "…: unauthorized" — not signed by the owner of the agent, or the text differs from the one of the first step. "publishing is not enabled here" — this deployment cannot publish.`,
    commitment: 'ReviewCommitment',
    signWith: 'sign_review_commitment',
    status: 'awaiting_signature',
    fields: {
      agent_id: id('The agent that the proof was submitted for: the author.'),
      proof_id: id('The approved proof, as submit_proof returned it.', 12),
      content_json: contentJson,
    },
    done: SubmittedReview,
    isIdempotent: true,
    propose: ({ context, chain, input }) => proposeReview(context, chain, submissionOf(input)),
    complete: async ({ context, chain, input }, proof) =>
      submitted(await submitReview(context, chain, submissionOf(input), proof)),
  }),
  tool({
    name: 'update_review_content',
    most: REVIEW_BODY,
    title: 'Bring the new text of an edited review',
    description:
      'After update_review_content_onchain (signer): brings the new text, with the same review_id and the very same content_json. Until then the text before is shown.',
    details: `Only reviews of purchases can be edited, within 7 days of their publication. Calling it again changes nothing.

${CONTENT}

Errors: "content hash mismatch" — the chain has the hash of another text: edit it on the chain first, then bring exactly that text. "the edit of review N is not indexed yet — retry shortly" — wait some seconds and repeat. "review N is not published" — no such review. "the first text of review N is not known" — call register_purchase_review instead.`,
    input: z.object({
      review_id: onChainId('The id on the chain, as it was edited there.'),
      content_json: contentJson,
    }),
    output: UpdatedReview,
    isIdempotent: true,
    handle: async ({ context, chain, input }) =>
      updated(
        await updateContent(context, chain, {
          reviewId: input.review_id,
          contentJson: input.content_json,
        }),
      ),
  }),
]

interface Given {
  agent_id: bigint
  proof_id: bigint
  content_json: string
}

const submissionOf = ({ agent_id, proof_id, content_json }: Given): Submission => ({
  agentId: agent_id,
  proofId: proof_id,
  contentJson: content_json,
})
