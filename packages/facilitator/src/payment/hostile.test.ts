import { ProtocolError } from '@referrer/protocol'
import fc from 'fast-check'
import { type Hex, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { NOW, paperContext } from '../../test/context.ts'
import { payloadOf } from '../../test/payloads.ts'
import { subjectOf } from '../http/answers.ts'
import { readPayment } from './read.ts'
import { Refused } from './refused.ts'

const buyer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const SALT: Hex = `0x${'66'.repeat(32)}`

type Path = string[]

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const below = Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))
  return path.length === 0 ? below : [path, ...below]
}

/** A copy with another value in one place, or without that place. */
function altered(root: object, path: Path, value: unknown): unknown {
  const copy = structuredClone(root)
  const parent = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((at, key) => Object(at[key]), copy as never)
  const last = path.at(-1) ?? ''
  if (value === undefined) delete parent[last]
  else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

test('whatever is sent is a payment, a refusal or no envelope, and the payer and the network can always be told', async () => {
  const { context, till, contracts } = await paperContext()
  contracts.add(buyer.address)
  const bodies = [await payloadOf(till, buyer, NOW), await payloadOf(till, buyer, NOW, { salt: SALT })]
  const nasty = fc.oneof(
    fc.anything(),
    fc.jsonValue(),
    fc.constantFrom(
      null,
      -1,
      0,
      1e21,
      '',
      '0x',
      '-1',
      '01',
      '1e3',
      '\ud800',
      'eip155:84532',
      zeroHash,
      String(2n ** 256n - 1n),
      String(2n ** 256n),
      '9'.repeat(5_000),
      `0x${'00'.repeat(20_000)}`,
      [],
      {},
    ),
  )
  const hostile = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(...bodies).chain((body) => {
        const paths = fc.constantFrom(...pathsOf(body))
        return fc.oneof(
          fc.tuple(paths, nasty).map(([path, value]) => altered(body, path, value)),
          paths.map((path) => altered(body, path, undefined)),
          fc
            .tuple(paths, paths, nasty, nasty)
            .map(([one, other, a, b]) => altered(altered(body, one, a) as object, other, b)),
        )
      }),
    },
    {
      weight: 1,
      arbitrary: fc
        .jsonValue()
        .map((value) => ({ x402Version: 2, paymentPayload: value, paymentRequirements: value })),
    },
    { weight: 1, arbitrary: fc.object() },
  )
  await fc.assert(
    fc.asyncProperty(hostile, async (body) => {
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
