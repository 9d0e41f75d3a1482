// Answers about a payment.
import { X402 } from '@referrer/protocol'
import { type Address, getAddress, isAddress } from 'viem'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import type { Refused } from '../payment/refused.ts'
import type { SettleFailure, Verified } from './shapes.ts'

/** Whose payment on which network a request is about, as far as it can be told: it may be no payment at all. */
export interface Subject {
  network: X402.Network.Network
  payer?: Address
}

interface Envelope {
  paymentPayload?: { payload?: { authorization?: { from?: unknown } | null } | null } | null
  paymentRequirements?: { network?: unknown } | null
}

export function subjectOf(context: Context, body: unknown): Subject {
  const { paymentPayload, paymentRequirements } = body as Envelope
  const network = networkOf(context, paymentRequirements?.network)
  const from = paymentPayload?.payload?.authorization?.from
  return typeof from === 'string' && isAddress(from) ? { network, payer: getAddress(from) } : { network }
}

/** `JSON.stringify` takes any value that JSON has; a template would throw for some objects. */
export const subjectOfCharge = (context: Context, body: object): Subject => ({
  network: networkOf(context, `eip155:${JSON.stringify((body as { chainId?: unknown }).chainId)}`),
})

/** The default chain's, where the request names none. */
function networkOf({ config }: Pick<Context, 'config'>, given: unknown): X402.Network.Network {
  try {
    return X402.Network.from(X402.Network.parse(given))
  } catch {
    return X402.Network.from(config.chains[0].chainId)
  }
}

export function settleFailure(
  { config: { setupUrl } }: Pick<Context, 'config'>,
  { network, payer }: Subject,
  { reason, message, transaction, retryable, pending, until, takeBack }: Refused,
): z.output<typeof SettleFailure> {
  return {
    success: false,
    errorReason: reason,
    errorMessage: message,
    transaction: transaction ?? '',
    network,
    ...(payer && { payer }),
    ...(setupUrl !== undefined && { setup_url: setupUrl }),
    ...(retryable && { retryable: true as const }),
    ...(pending && { pending: true as const }),
    ...(until !== undefined && { until: Number(until) }),
    ...(takeBack && { take_back: { to: takeBack.to, data: takeBack.data, not_before: takeBack.notBefore } }),
  }
}

export function verifyFailure({ payer }: Subject, { reason, message }: Refused): z.output<typeof Verified> {
  return { isValid: false, invalidReason: reason, invalidMessage: message, ...(payer && { payer }) }
}
