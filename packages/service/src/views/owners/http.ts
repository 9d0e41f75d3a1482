import { z } from 'zod'
import { id } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { pageFields } from '../page.ts'
import { OwnProofs, OwnPurchases, proofsOf, purchasesOfAgent, purchasesOfWallet } from './operations.ts'

const params = z.object({ id: id(0, 'invalid agent id', 'The agent.') })
const query = z.object(pageFields)
const refusals = { 403: 'caller does not own this agent', 404: 'not found' }

export const ownerRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/purchases',
    tag: 'Earnings and escrows',
    summary: 'What an agent bought, newest first',
    about: 'For its owner. From the records: a little behind the chain.',
    auth: 'caller',
    params,
    query,
    takesChain: true,
    response: OwnPurchases,
    refusals,
    handle: ({ context, chain, caller, params, query }) =>
      purchasesOfAgent(context, chain, caller, { agentId: params.id, ...query }),
  }),
  route({
    method: 'GET',
    path: '/v1/wallet/purchases',
    tag: 'Earnings and escrows',
    summary: 'What the calling wallet paid for, newest first',
    about: 'With or without an agent. From the records: a little behind the chain.',
    auth: 'caller',
    query,
    takesChain: true,
    response: OwnPurchases,
    handle: ({ context, chain, caller, query }) => purchasesOfWallet(context, chain, caller, query),
  }),
  route({
    method: 'GET',
    path: '/v1/agent/{id}/proofs',
    tag: 'Proofs',
    summary: 'The proofs of an agent, newest first',
    about: 'For its owner. Those that others submitted for the agent are listed, too.',
    auth: 'caller',
    params,
    query,
    takesChain: true,
    response: OwnProofs,
    refusals,
    handle: ({ context, chain, caller, params, query }) =>
      proofsOf(context, chain, caller, { agentId: params.id, ...query }),
  }),
]
