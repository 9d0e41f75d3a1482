import { ProtocolError } from '@referrer/protocol'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { NOW, paperContext } from '../../test/context.ts'
import { hostileTo } from '../../test/hostile.ts'
import { payloadOf } from '../../test/payloads.ts'
import { subjectOf } from '../http/answers.ts'
import { readPayment } from './read.ts'
import { Refused } from './refused.ts'

const buyer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const SALT: Hex = `0x${'66'.repeat(32)}`

test('whatever is sent is a payment, a refusal or no envelope, and the payer and the network can always be told', async () => {
  const { context, till, contracts } = await paperContext()
  contracts.add(buyer.address)
  const bodies = [await payloadOf(till, buyer, NOW), await payloadOf(till, buyer, NOW, { salt: SALT })]
  await fc.assert(
    fc.asyncProperty(hostileTo(bodies), async (body) => {
      const subject = subjectOf(context, body)
      expect(subject.network).toMatch(/^eip155:\d+$/)
      try {
        const payment = await readPayment(context, body)
        expect(payment.authorization.value).toBe(1_000_000n)
        expect(payment.authorization.from).toBe(buyer.address)
      } catch (error) {
        const isEnvelope = error instanceof ProtocolError && error.code === 'invalid_envelope'
        if (!isEnvelope) expect(error).toBeInstanceOf(Refused)
      }
    }),
    { numRuns: 3_000 },
  )
})
