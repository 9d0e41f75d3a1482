import { clientOf } from '@referrer/net'
import { ProtocolError, type X402 } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import type { Address } from 'viem'
import type { Context } from '../context.ts'
import type { Payment } from '../payment/payment.ts'
import { readPayment } from '../payment/read.ts'
import { Refused } from '../payment/refused.ts'
import type { Settler } from '../settlement/types.ts'
import { settleFailure, subjectOf, verifyFailure } from './answers.ts'
import { requirePermission, signerOf } from './auth.ts'
import { bytesOf, jsonOf } from './body.ts'
import type { Metrics } from './metrics.ts'
import { badRequest } from './refusal.ts'
import { logRefusal } from './refusal-log.ts'
import type { RequestsInProgress } from './requests-in-progress.ts'

/** `/verify` and `/settle`. A caller that hangs up stops nothing: what has begun ends, and a copy of the request learns how. */
export function paymentRoutes(
  app: FastifyInstance,
  context: Context,
  settler: Settler,
  metrics: Metrics,
  inProgress: RequestsInProgress,
): void {
  app.post('/verify', async (request): Promise<X402.VerifyResponse.VerifyResponse> => {
    const signer = await signerOf(context, request.headers, bytesOf(request))
    const body = jsonOf(request)
    const end = inProgress.begin('/verify')
    try {
      const payment = await permitted(context, settler, body, signer)
      await settler.check(payment, clientOf(request.ip))
      metrics.countAnswer('/verify', 'valid')
      return { isValid: true, payer: payment.authorization.from }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      metrics.countAnswer('/verify', error.reason)
      const subject = subjectOf(context, body)
      logRefusal(context, request.id, subject, error)
      return verifyFailure(subject, error)
    } finally {
      end()
    }
  })

  app.post('/settle', async (request): Promise<X402.SettleResponse.SettleResponse> => {
    const signer = await signerOf(context, request.headers, bytesOf(request))
    const body = jsonOf(request)
    const end = inProgress.begin('/settle')
    try {
      const payment = await permitted(context, settler, body, signer)
      const { transaction, payer } = await settler.settle(payment, clientOf(request.ip))
      metrics.countAnswer('/settle', 'settled')
      return { success: true, transaction, network: payment.network, payer }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      metrics.countAnswer('/settle', error.pending ? 'pending' : error.reason)
      const subject = subjectOf(context, body)
      logRefusal(context, request.id, subject, error)
      return settleFailure(context, subject, error)
    } finally {
      end()
    }
  })
}

/** The payment in a body, which whoever signed it may settle. */
export async function permitted(
  context: Context,
  settler: Settler,
  body: object,
  signer: Address | undefined,
): Promise<Payment> {
  const payment = await readEnvelope(context, settler, body)
  if (signer) await requirePermission(context, payment, signer)
  return payment
}

async function readEnvelope(context: Context, settler: Settler, body: object): Promise<Payment> {
  try {
    return await readPayment(context, body)
  } catch (error) {
    if (error instanceof Refused && error.purchase) throw await settler.told(error, error.purchase)
    if (error instanceof ProtocolError && error.code === 'invalid_envelope') throw badRequest(error.message)
    throw error
  }
}
