import fc from 'fast-check'
import { type Address, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { ProtocolError, Registration } from './index.ts'

/** As the standard shows it. */
const EXAMPLE = {
  type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
  name: 'myAgentName',
  description: 'A natural language description of the Agent',
  image: 'https://example.com/agentimage.png',
  services: [
    { name: 'web', endpoint: 'https://web.agentxyz.com/' },
    { name: 'A2A', endpoint: 'https://agent.example/.well-known/agent-card.json', version: '0.3.0' },
    { name: 'OASF', endpoint: 'ipfs://cid', version: '0.8', skills: [], domains: [] },
    { name: 'email', endpoint: 'mail@myagent.com' },
  ],
  x402Support: false,
  active: true,
  registrations: [{ agentId: 22, agentRegistry: 'eip155:1:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432' }],
  supportedTrust: ['reputation', 'crypto-economic'],
}

const refusal = (work: () => unknown): string | undefined => {
  try {
    work()
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
  return undefined
}

const words = (most: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: Math.floor(most / 8) })
    .map((text) => text.trim())
    .filter((text) => text !== '')
const url = fc.webUrl()
const registration = fc.record<Registration.Registration>(
  {
    name: words(200),
    description: words(4_000),
    image: fc.oneof(fc.constant(''), url),
    services: fc.array(fc.record({ name: words(64), endpoint: url, version: words(64) }), { maxLength: 5 }),
    registrations: fc.array(
      fc.record({
        chainId: fc.integer({ min: 1, max: 1_000_000 }),
        identityRegistry: fc
          .uint8Array({ minLength: 20, maxLength: 20 })
          .map((bytes) => toHex(bytes) as Address),
        agentId: fc.nat(),
      }),
      { maxLength: 3 },
    ),
    supportedTrust: fc.array(words(64), { maxLength: 3 }),
    active: fc.boolean(),
    x402Support: fc.boolean(),
  },
  { requiredKeys: ['name', 'description', 'image', 'services', 'registrations', 'supportedTrust'] },
)

describe('a registration file', () => {
  it('is read as the standard writes it', () => {
    const file = Registration.parse(JSON.stringify(EXAMPLE))
    expect(file).toMatchObject({
      name: 'myAgentName',
      image: EXAMPLE.image,
      active: true,
      x402Support: false,
      supportedTrust: ['reputation', 'crypto-economic'],
    })
    expect(file.services.map(({ name }) => name)).toEqual(['web', 'A2A', 'OASF', 'email'])
    const identity = {
      chainId: 1,
      identityRegistry: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
      agentId: '22',
    } as const
    expect(Registration.names(file, identity)).toBe(true)
    expect(Registration.names(file, { ...identity, agentId: 23 })).toBe(false)
    expect(Registration.names(file, { ...identity, chainId: 8_453 })).toBe(false)
    expect(Registration.names(file, { ...identity, identityRegistry: `0x${'11'.repeat(20)}` })).toBe(false)
  })

  it('of an earlier draft has its endpoints read as services', () => {
    const { services: endpoints, ...rest } = EXAMPLE
    expect(Registration.parse(JSON.stringify({ ...rest, endpoints })).services).toHaveLength(4)
  })

  it('is written in the standard form, and read as it was written', () => {
    fc.assert(
      fc.property(registration, (given) => {
        const text = Registration.serialize(given)
        expect(JSON.parse(text).type).toBe(EXAMPLE.type)
        expect(Registration.serialize(Registration.parse(text))).toBe(text)
        expect(Registration.fromDataUri(Registration.toDataUri(text))).toBe(text)
      }),
    )
  })

  it('with anything in its fields is read within bounds, or refused with a clear error', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }))
    const fields = fc.dictionary(fc.constantFrom(...Object.keys(EXAMPLE), 'endpoints'), anything)
    fc.assert(
      fc.property(
        fc.oneof(
          fields.map((file) => JSON.stringify(file)),
          fc.json(),
          fc.string(),
        ),
        (text) => {
          try {
            const file = Registration.parse(text)
            expect(file.name.length).toBeLessThanOrEqual(200)
            expect(file.services.length).toBeLessThanOrEqual(32)
            expect(
              JSON.stringify(file, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
            ).not.toMatch(/\\u00(?:0[0-8bcef]|1)/)
            for (const { name, endpoint } of file.services) expect(name && endpoint).toBeTruthy()
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError)
          }
        },
      ),
    )
  })

  it('that is too large or too deep is refused, and long lists and texts are cut', () => {
    expect(refusal(() => Registration.parse(`{"a":"${'b'.repeat(70_000)}"}`))).toBe('too_large')
    expect(refusal(() => Registration.parse('['.repeat(60_000)))).toBe('invalid_registration')
    expect(refusal(() => Registration.parse(`{"a":"${'['.repeat(100)}"}`))).toBeUndefined()
    const service = { name: 'web', endpoint: 'https://a.test' }
    const long = { name: 'n'.repeat(1_000), services: Array(1_000).fill(service) }
    const file = Registration.parse(JSON.stringify(long))
    expect([file.name.length, file.services.length]).toEqual([200, 32])
    expect(Registration.parse(JSON.stringify({ image: 'javascript:alert(1)' })).image).toBe('')
  })

  it('is not written with what others would not read', () => {
    const good = Registration.parse(JSON.stringify(EXAMPLE))
    const bad: [object, RegExp][] = [
      [{ name: '' }, /name must/],
      [{ name: 'a\u0000b' }, /name must/],
      [{ description: 'd'.repeat(5_000) }, /description must/],
      [{ image: 'javascript:alert(1)' }, /image must/],
      [{ services: [{ name: 'web', endpoint: '' }] }, /services\[0\].endpoint/],
      [{ services: Array(33).fill(good.services[0]) }, /32 entries/],
      [{ registrations: [{ chainId: 1, identityRegistry: '0x1', agentId: 1 }] }, /identityRegistry/],
    ]
    for (const [change, message] of bad) {
      expect(() => Registration.serialize({ ...good, ...change })).toThrow(message)
    }
  })

  it('in a data URI is read in every form of one, and elsewhere it is not', () => {
    expect(Registration.fromDataUri('data:application/json;base64,e30=')).toBe('{}')
    expect(Registration.fromDataUri('data:application/json;charset=utf-8,{"a":1}')).toBe('{"a":1}')
    expect(Registration.fromDataUri('data:,%7B%7D')).toBe('{}')
    expect(Registration.fromDataUri('https://a.test')).toBeUndefined()
    for (const uri of ['data:;base64,***', 'data:,%zz', 'data:;base64,/w==']) {
      expect(refusal(() => Registration.fromDataUri(uri))).toBe('invalid_registration')
    }
  })
})
