import { ProtocolError, type X402 } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import { charge } from '../charge/charge.ts'
import type { Context } from '../context.ts'
import { Refused } from '../payment/refused.ts'
import type { Settler } from '../settlement/types.ts'
import { networkOf, settleFailure } from './answers.ts'
import { jsonOf } from './body.ts'
import type { Metrics } from './metrics.ts'
import { badRequest } from './refusal.ts'
import { logRefusal } from './refusal-log.ts'
import type { UnderWay } from './under-way.ts'

/** Records a purchase that was paid by plain transfer. No merchant signs here: the body carries the buyer's own signature. */
export function chargeRoutes(
  app: FastifyInstance,
  context: Context,
  settler: Settler,
  metrics: Metrics,
  underWay: UnderWay,
): void {
  app.post('/mpp/charge', async (request): Promise<X402.SettleResponse.SettleResponse> => {
    const body = jsonOf(request)
    // Of an object that cannot be made text by itself, JSON can.
    const network = networkOf(context, `eip155:${JSON.stringify((body as { chainId?: unknown }).chainId)}`)
    const end = underWay.begin('/mpp/charge')
    try {
      const settled = await charge(context, settler, body)
      metrics.countAnswer('/mpp/charge', 'settled')
      return { success: true, ...settled, network }
    } catch (error) {
      if (error instanceof ProtocolError && error.code === 'invalid_envelope') throw badRequest(error.message)
      if (!(error instanceof Refused)) throw error
      metrics.countAnswer('/mpp/charge', error.pending ? 'pending' : error.reason)
      logRefusal(context, request.id, { network }, error)
      return settleFailure(context, { network }, error)
    } finally {
      end()
    }
  })
}
