import { z } from 'zod'
import { id } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { Earnings, earnings, period } from './operations.ts'

export const earningsRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/earnings',
    tag: 'Earnings and escrows',
    summary: 'What an agent earned',
    about:
      'Commission as a reviewer and cashback as a buyer, of the purchases made in a period. `escrow_pending` and `usdc_wallet_balance` are as of now, whatever the period.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query: z.object(period),
    takesChain: true,
    response: Earnings,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) => earnings(context, chain, params.id, query),
  }),
]
