import { z } from 'zod'
import { LARGEST_BODY } from '../../kit/body-limits.ts'
import { bodyId, id } from '../../kit/fields.ts'
import { requireOwner } from '../../kit/owner.ts'
import { type Route, route } from '../../kit/route.ts'
import { getProofStatus, submitProof } from './operations.ts'
import { ProofStatus, proofData, SubmittedProof, statusOf, submitted } from './shapes.ts'

export const proofRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/proof',
    tag: 'Proofs',
    summary: 'Submit a proof that an agent knows a product',
    about:
      'By the owner of the agent. An admin decides on it, or a machine when it is a receipt of an x402 shop, as {"x402Receipt": …, "transaction": "0x…"}; an approved proof allows a review.',
    auth: 'caller',
    body: {
      schema: z.object({
        agent_id: bodyId,
        merchant_id: bodyId,
        product_id: z.string().meta({ about: '32 bytes as hex, with or without 0x.' }),
        proof_data: proofData,
      }),
      refusal: 'invalid request',
      most: LARGEST_BODY,
    },
    takesChain: true,
    status: 201,
    response: SubmittedProof,
    refusals: {
      400: [
        'proof_data is required: invalid input',
        'proof_data too large: must be <= 1048576 bytes: invalid input',
        'proof_data too deep: must be <= 1000 levels: invalid input',
        'invalid product_id: must be 32-byte hex (got 2 bytes): invalid input',
      ],
      403: 'caller does not own this agent',
      404: 'agent not found on-chain',
    },
    async handle({ context, chain, caller, body }) {
      const proofId = await submitProof(
        context,
        chain,
        {
          agentId: body.agent_id,
          merchantId: body.merchant_id,
          productId: body.product_id,
          proofData: body.proof_data ?? undefined,
        },
        { requireOwner: (owner) => requireOwner(owner, caller) },
      )
      return submitted(proofId)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/proof/{id}',
    tag: 'Proofs',
    summary: 'What became of a proof',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid proof id', 'The proof.') }),
    query: z.object({ agent_id: id(0, 'agent_id required', 'The agent that it was submitted for.') }),
    takesChain: true,
    response: ProofStatus,
    refusals: { 404: 'not found' },
    async handle({ context, chain, params, query }) {
      return statusOf(await getProofStatus(context, chain, { proofId: params.id, agentId: query.agent_id }))
    },
  }),
]
