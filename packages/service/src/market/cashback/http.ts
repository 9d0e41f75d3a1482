import { z } from 'zod'
import { bodyId } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { envelopeShown, proofFields, proofOf, proofRefusals } from '../commitments/http.ts'
import { HIGHEST_BPS, type Pledge, proposeRate, setRate } from './operations.ts'
import { RateSet } from './shapes.ts'

const TYPE = 'CashbackRateCommitment'

const fields = {
  reviewer_agent_id: bodyId,
  cashback_of_commission_bps: z
    .int()
    .min(0)
    // JSON can hold a negative zero; adding 0 makes it 0.
    .transform((bps) => bps + 0)
    .meta({
      about: "What buyers get of the reviewer's commission, in basis points.",
      shown: { type: 'integer', minimum: 0, maximum: HIGHEST_BPS },
    }),
}

const pledgeOf = (body: z.output<z.ZodObject<typeof fields>>): Pledge => ({
  agentId: body.reviewer_agent_id,
  bps: body.cashback_of_commission_bps,
})

const CEILING = 'cashback rate 4001 bps exceeds maximum 4000 bps (40%): invalid input'

export const cashbackRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/cashback-rate/step1',
    tag: 'Cashback rate',
    summary: 'What to sign to pledge a share of the commission to buyers',
    about: 'Nothing changes yet.',
    auth: 'caller',
    changes: false,
    body: { schema: z.object(fields), refusal: 'invalid request' },
    takesChain: true,
    response: envelopeShown(TYPE, 'commitment'),
    refusals: { 400: CEILING },
    handle: ({ context, chain, body }) => ({
      status: 'commitment',
      ...proposeRate(context, chain, pledgeOf(body)),
    }),
  }),
  route({
    method: 'POST',
    path: '/v1/cashback-rate/step2',
    tag: 'Cashback rate',
    summary: 'Pledge a share of the commission to buyers',
    about:
      'The body of step 1, with its commitment signed by the owner of the agent. Reviews that enter the records from now on carry the new rate; those that are there keep theirs.',
    auth: 'caller',
    body: { schema: z.object({ ...fields, ...proofFields(TYPE) }), refusal: 'invalid request' },
    takesChain: true,
    response: RateSet,
    refusals: { 400: [CEILING, ...proofRefusals(TYPE)], 403: 'not authorized', 404: 'not found' },
    async handle({ context, chain, body }) {
      await setRate(context, chain, pledgeOf(body), proofOf(body))
      return { status: 'set' }
    },
  }),
]
