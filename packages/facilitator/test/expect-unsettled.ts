import type { Address } from 'viem'
import { expect } from 'vitest'
import type { TestFacilitator } from './harness.ts'

export interface Expected {
  errorReason: 'invalid_payment' | 'self_referral' | 'settle_failed'
  /** Text, or a matcher; left out: any text. */
  errorMessage?: unknown
  retryable?: true
  payer?: Address
}

/** Refused by both routes alike, with the whole of either answer, and without a trace. Returns the message. */
export async function expectUnsettled(
  m: TestFacilitator,
  body: unknown,
  { errorReason, errorMessage = expect.stringMatching(/\S/), retryable, payer }: Expected,
): Promise<string> {
  const [relayer] = m.relayers
  const sent = () => m.chain.client.getTransactionCount({ address: relayer.address })
  /** Besides pins, which say whose a signature is. */
  const rows = async () =>
    (await m.sql`SELECT 1 FROM facilitator.settlements WHERE state <> 'open' OR was_sent`).length
  const before = [await sent(), await rows()]

  const [verified, settled] = [await m.verify(body), await m.settle(body)]
  expect([settled.status, settled.body]).toEqual([
    200,
    {
      success: false,
      errorReason,
      errorMessage,
      transaction: '',
      network: `eip155:${m.chainId}`,
      ...(payer && { payer }),
      setup_url: m.env.SETUP_URL,
      ...(retryable && { retryable }),
    },
  ])
  expect([verified.status, verified.body]).toEqual([
    200,
    {
      isValid: false,
      invalidReason: errorReason,
      invalidMessage: settled.body.errorMessage,
      ...(payer && { payer }),
    },
  ])
  expect([await sent(), await rows()]).toEqual(before)
  return settled.body.errorMessage
}
