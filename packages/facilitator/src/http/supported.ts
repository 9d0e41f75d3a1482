import type { X402 } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

/** What can be paid here, in the format that official resource servers read. */
export function supportedRoutes(app: FastifyInstance, context: Context): void {
  const answer = supportedBy(context)
  app.get('/supported', async () => answer)
}

function supportedBy({ chains, config }: Context): X402.SupportedResponse.SupportedResponse {
  const each = [...chains.values()]
  return {
    kinds: each.map(({ network, token, contracts, leastAmount }) => ({
      x402Version: 2,
      scheme: 'exact',
      network,
      extra: {
        ...token,
        asset: contracts.USDC,
        payTo: contracts.SplitRouter,
        leastAmount: String(leastAmount),
      },
    })),
    extensions: ['attributionToken', 'buyerAgentId', ...(config.marketUrl === undefined ? [] : ['bazaar'])],
    signers: {
      'eip155:*': [...new Set(each.flatMap(({ relayers }) => relayers.map(({ address }) => address)))],
    },
  }
}
