import { z } from 'zod'
import { id } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { EscrowPage, escrowPage } from './operations.ts'

export const escrowViewRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/escrow/{id}',
    tag: 'Earnings and escrows',
    summary: 'A purchase and what became of its commission',
    about:
      'From the records: a little behind the chain. What the oracle decided, and from what, is at `/v1/escrow/{id}/decisions`.',
    auth: 'none',
    params: z.object({ id: id(1, 'invalid escrow id', 'The escrow.') }),
    takesChain: true,
    response: EscrowPage,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) => escrowPage(context)({ chain, escrowId: params.id }),
  }),
]
