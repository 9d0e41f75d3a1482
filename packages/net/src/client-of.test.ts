import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientOf } from './client-of.ts'

describe('a client', () => {
  it.each([
    ['an IPv4 address', '203.0.113.9', '203.0.113.9'],
    ['an IPv4 address in IPv6', '::ffff:203.0.113.9', '203.0.113.9'],
    ['the same in hex', '::ffff:cb00:7109', '203.0.113.9'],
    ['an IPv4 address with a port', '203.0.113.9:4711', '203.0.113.9'],
  ])('is %s', (_, ip, client) => {
    expect(clientOf(ip)).toBe(client)
  })

  it('is a whole network of IPv6, because everybody there has one', () => {
    const client = clientOf('2001:db8:1:2::1')
    expect(clientOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(client)
    expect(clientOf('2001:0DB8:1:2::9%eth0')).toBe(client)
    expect(clientOf('[2001:db8:1:2::5]:4711')).toBe(client)
    expect(clientOf('2001:db8:1:3::1')).not.toBe(client)
  })

  it('is nobody in particular when it has no address: all such share a limit', () => {
    expect(clientOf('foo:bar')).toBe(clientOf(':::::'))
    expect(clientOf('unknown')).toBe(clientOf(''))
    expect(clientOf('_hidden')).toBe(clientOf('x'.repeat(10_000)))
  })

  it('has a short name, whatever a proxy passes on: limits are kept under it', () => {
    const passedOn = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV4().map((ip) => `${ip}:80`),
    )
    fc.assert(fc.property(passedOn, (ip) => clientOf(ip).length <= 24))
  })
})
