import { z } from 'zod'
import { clamp, id, integer, offset } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { Escrow, Escrows, escrowStatus, listEscrows } from './operations.ts'
import { EscrowTerms, escrowTerms } from './terms.ts'

export const escrowRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/escrows',
    tag: 'Earnings and escrows',
    summary: 'The escrows in which an agent has a part',
    about: 'As reviewer or as buyer, newest first, from the records: a little behind the chain.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query: z.object({ limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)), offset }),
    takesChain: true,
    response: Escrows,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) => listEscrows(context, chain, params.id, query),
  }),
  route({
    method: 'GET',
    path: '/v1/escrow/{id}/status',
    tag: 'Earnings and escrows',
    summary: 'An escrow, as seen by an agent that has a part in it',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid escrow id', 'The escrow.') }),
    query: z.object({ agent_id: id(0, 'agent_id required', 'The agent, as reviewer or as buyer.') }),
    takesChain: true,
    response: Escrow,
    refusals: { 400: 'escrow_id is required: invalid input', 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      escrowStatus(context, chain, { agentId: query.agent_id, escrowId: params.id }),
  }),
  route({
    method: 'GET',
    path: '/v1/escrow/{id}/terms',
    tag: 'Earnings and escrows',
    summary: 'What the escrow contract wants to be told',
    about:
      'For whoever sends a transaction about the escrow. All of it is public on the chain, and the contract checks it.',
    auth: 'none',
    params: z.object({ id: id(0, 'invalid escrow id', 'The escrow.') }),
    takesChain: true,
    response: EscrowTerms,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) => escrowTerms(context, chain, params.id),
  }),
]
