import { clientOf } from '@referrer/net'
import { ProtocolError, type X402 } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import { charge } from '../charge/charge.ts'
import { hasCredential, settleRequestOf } from '../charge/credential.ts'
import type { Context } from '../context.ts'
import { Refused } from '../payment/refused.ts'
import type { Settled, Settler } from '../settlement/types.ts'
import { settleFailure, subjectOf, subjectOfCharge } from './answers.ts'
import { signerOf } from './auth.ts'
import { bytesOf, jsonOf } from './body.ts'
import type { Metrics } from './metrics.ts'
import { permitted } from './payments.ts'
import { badRequest } from './refusal.ts'
import { logRefusal } from './refusal-log.ts'
import type { RequestsInProgress } from './requests-in-progress.ts'

/**
 * Records a purchase that was paid by plain transfer: no merchant signs it, because the body carries the buyer's own signature. Or settles the
 * authorisation of an MPP credential, on the same terms as `/settle`.
 */
export function chargeRoutes(
  app: FastifyInstance,
  context: Context,
  settler: Settler,
  metrics: Metrics,
  inProgress: RequestsInProgress,
): void {
  app.post('/mpp/charge', async (request): Promise<X402.SettleResponse.SettleResponse> => {
    const body = jsonOf(request)
    const isCredential = hasCredential(body)
    const signer = isCredential ? await signerOf(context, request.headers, bytesOf(request)) : undefined
    let subject = subjectOfCharge(context, body)
    const end = inProgress.begin('/mpp/charge')
    try {
      let settled: Settled
      if (isCredential) {
        const settleRequest = settleRequestOf(context, body)
        subject = subjectOf(context, settleRequest)
        settled = await settler.settle(
          await permitted(context, settler, settleRequest, signer),
          clientOf(request.ip),
        )
      } else settled = await charge(context, settler, body)
      metrics.countAnswer('/mpp/charge', 'settled')
      return { success: true, ...settled, network: subject.network }
    } catch (error) {
      if (error instanceof ProtocolError && error.code === 'invalid_envelope') throw badRequest(error.message)
      if (!(error instanceof Refused)) throw error
      metrics.countAnswer('/mpp/charge', error.pending ? 'pending' : error.reason)
      logRefusal(context, request.id, subject, error)
      return settleFailure(context, subject, error)
    } finally {
      end()
    }
  })
}
