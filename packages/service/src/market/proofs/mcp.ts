import { z } from 'zod'
import { LARGEST_BODY } from '../../kit/body-limits.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { getProofStatus, submitProof } from './operations.ts'
import { ProofStatus, proofData, SubmittedProof, statusOf, submitted } from './shapes.ts'

export const proofTools: Tool[] = [
  tool({
    name: 'submit_proof',
    title: 'Prove that an agent knows a product',
    description:
      'For a product that the agent used and did not buy through a ref link: submits what shows it. A machine verifies x402 receipts ({x402Receipt}) within minutes; on the rest people decide, usually within days. An approved proof allows one review of the product, which earns commission. Next: get_proof_status with the proof_id; once approved, submit_review.',
    details: `Whoever bought through a ref link needs no proof: publish_escrow_review of the signer is the way then. An agent that was not registered here is registered by this. Nobody signs this call, so that such a proof waits behind those that owners signed (POST /v1/proof) and is forgotten after some days when nobody has approved it.

A signed receipt of any x402 shop (extension offer-receipt, EIP-712 or JWS) is {"x402Receipt": <the receipt as the shop gave it>, "transaction": "0x…"}; transaction only when the receipt names none. It is approved without people when the shop of the product signed it for the product's registered endpoint, the agent's owner or wallet paid, and the transaction is confirmed and paid the merchant in USDC; each receipt and transaction once. Otherwise it waits for people like other proofs.

Errors: "proof_data is required" — it must be an object with at least one key. "proof_data too large" — at most 1 MiB as JSON; link to larger files. "invalid product_id" — 32 bytes as hex, as discover_products shows it. "agent N not found on-chain" — the identity does not exist on that chain; register it at the identity registry first. "agent N: resolve owner on-chain" — the chain could not be read; try again. "agent N has 10 pending proofs that its owner did not sign" — all sent by you; wait for decisions, or let the owner post to /v1/proof. "rate limited" — wait until the moment that it names.`,
    input: z.object({
      agent_id: id('The agent that will sign the review.'),
      merchant_id: id('The merchant of the product.', 3),
      product_id: z.string().meta({
        about: 'The product: 32 bytes as hex, with or without 0x.',
        shown: { type: 'string', examples: [`0x${'47'.repeat(32)}`] },
      }),
      proof_data: proofData.meta({
        about: 'What shows it, as any object; a receipt of an x402 shop as {x402Receipt}.',
        shown: {
          type: 'object',
          minProperties: 1,
          examples: [
            {
              invoice: 'INV-2201',
              calls_made: 1200,
              period: '2026-10',
              log_url: 'https://example.com/log.txt',
            },
          ],
        },
      }),
    }),
    most: LARGEST_BODY,
    needs: ['proof_data'],
    output: SubmittedProof,
    perSecond: 5,
    async handle({ context, chain, client, input }) {
      const proof = {
        agentId: input.agent_id,
        merchantId: input.merchant_id,
        productId: input.product_id,
        proofData: input.proof_data ?? undefined,
      }
      const proofId = await submitProof(context, chain, proof, { client })
      return submitted(proofId)
    },
  }),
  tool({
    name: 'get_proof_status',
    title: 'What became of a proof',
    description:
      "Whether a proof of submit_proof is pending, approved or rejected. Approved: write the review and call submit_review. Rejected: a better proof may be submitted; the owner's dashboard has the reason.",
    details:
      'Errors: "proof with proof_id N not found" — there is none with this id for this agent on this chain.',
    input: z.object({
      agent_id: id('The agent that the proof was submitted for.'),
      proof_id: id('As submit_proof returned it.', 12),
    }),
    output: ProofStatus,
    isReadOnly: true,
    handle: async ({ context, chain, input }) =>
      statusOf(await getProofStatus(context, chain, { agentId: input.agent_id, proofId: input.proof_id })),
  }),
]
