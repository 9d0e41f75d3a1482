import { describe, expect, it } from 'vitest'
import { isAllowedAddress, isPlainlyPrivate } from './addresses.ts'

const PUBLIC = ['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::5']
const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1']
const PRIVATE = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1']
const NEARNESSES = ['public', 'loopback', 'network'] as const
const NEVER = {
  'this network': '0.0.0.0',
  'all of this network': '0.1.2.3',
  'link-local, where clouds keep their secrets': '169.254.169.254',
  'the platform of a cloud': '168.63.129.16',
  'carrier-grade NAT': '100.64.0.1',
  'the metadata of a cloud behind carrier-grade NAT': '100.100.100.200',
  multicast: '224.0.0.1',
  broadcast: '255.255.255.255',
  reserved: '240.0.0.1',
  benchmarking: '198.18.0.1',
  'documentation, first': '192.0.2.1',
  'documentation, second': '198.51.100.1',
  'documentation, third': '203.0.113.1',
  'protocol assignments': '192.0.0.1',
  'relays of 6to4': '192.88.99.1',
  unspecified: '::',
  'link-local IPv6': 'fe80::1',
  'link-local IPv6 with a zone': 'fe80::1%eth0',
  'site-local IPv6': 'fec0::1',
  'multicast IPv6': 'ff02::1',
  'IPv4-mapped loopback': '::ffff:127.0.0.1',
  'IPv4-mapped private': '::ffff:a00:1',
  'IPv4-mapped public': '::ffff:1.1.1.1',
  'IPv4-compatible loopback': '::7f00:1',
  'IPv4-translated': '::ffff:0:127.0.0.1',
  'NAT64 of loopback': '64:ff9b::7f00:1',
  'NAT64 of a private address': '64:ff9b::10.0.0.1',
  'NAT64 of link-local': '64:ff9b::169.254.169.254',
  'NAT64 for local use': '64:ff9b:1::1.1.1.1',
  '6to4 of loopback': '2002:7f00:1::1',
  '6to4 of a public address': '2002:101:101::1',
  Teredo: '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  'documentation IPv6': '2001:db8::1',
  'newer documentation IPv6': '3fff::1',
  'benchmarking IPv6': '2001:2::1',
  ORCHID: '2001:20::1',
  discard: '100::1',
  'segment routing': '5f00::1',
  'IPv6 that nobody was given': '4000::1',
  'no address': 'shop.test',
  'an empty text': '',
}

describe('addresses that strangers name', () => {
  it.each(PUBLIC)('allows %s, which is on the internet', (address) => {
    for (const nearness of NEARNESSES) expect(isAllowedAddress(address, nearness)).toBe(true)
  })

  it('allows a public IPv4 address behind NAT64', () => {
    expect(isAllowedAddress('64:ff9b::1.1.1.1', 'public')).toBe(true)
  })

  it.each(LOOPBACK)('allows %s where this machine is allowed', (address) => {
    expect(NEARNESSES.filter((nearness) => isAllowedAddress(address, nearness))).toEqual([
      'loopback',
      'network',
    ])
  })

  it.each(PRIVATE)(
    'allows %s out of our own configuration only, not because loopback is allowed',
    (address) => {
      expect(NEARNESSES.filter((nearness) => isAllowedAddress(address, nearness))).toEqual(['network'])
    },
  )

  it.each(Object.entries(NEVER))('never allows %s (%s)', (_what, address) => {
    for (const nearness of NEARNESSES) expect(isAllowedAddress(address, nearness)).toBe(false)
  })
})

describe('URLs that are plainly private', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://shop.localhost:8080/',
    'https://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
  ])('knows %s', (url) => {
    expect(isPlainlyPrivate(new URL(url), false)).toBe(true)
  })

  it.each([
    'https://shop.example/',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]/',
    'https://notlocalhost/',
  ])('does not take %s for one', (url) => {
    for (const allowLoopback of [false, true])
      expect(isPlainlyPrivate(new URL(url), allowLoopback)).toBe(false)
  })

  it.each(['http://127.0.0.1:8083/', 'http://[::1]/', 'http://localhost/', 'http://shop.localhost:8080/'])(
    'takes %s for none where this machine is allowed',
    (url) => {
      expect(isPlainlyPrivate(new URL(url), true)).toBe(false)
    },
  )

  it.each(['https://10.0.0.1/', 'http://192.168.1.1/', 'http://169.254.169.254/latest/meta-data'])(
    'knows %s even there',
    (url) => {
      expect(isPlainlyPrivate(new URL(url), true)).toBe(true)
    },
  )
})
