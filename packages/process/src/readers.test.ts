import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Reader } from './environment.ts'
import * as Read from './readers.ts'

const KEY = `0x${'ab'.repeat(32)}`
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const numbers = Read.json(z.array(z.number()), 'numbers')

const CASES: [string, Reader<unknown>, { good: [string, unknown][]; bad: string[] }][] = [
  [
    'a whole number within bounds',
    Read.whole(1, 20),
    {
      good: [
        ['1', 1],
        ['20', 20],
      ],
      bad: ['0', '21', '-1', '1.5', '1e1', '0x1', '+1', 'one', '9'.repeat(16)],
    },
  ],
  [
    'a whole number without an upper bound',
    Read.whole(1),
    { good: [['9'.repeat(15), 999_999_999_999_999]], bad: ['0', '9'.repeat(16)] },
  ],
  ['a choice', Read.oneOf('a', 'b'), { good: [['b', 'b']], bad: ['c', 'A', 'a,b'] }],
  [
    'a flag',
    Read.flag,
    {
      good: [
        ['true', true],
        ['false', false],
      ],
      bad: ['yes', '1', 'TRUE', 'constructor'],
    },
  ],
  ['a list', Read.list(Read.whole(0), 'x'), { good: [['1, 2,3', [1, 2, 3]]], bad: ['1,,2', '1,x', ','] }],
  ['JSON', numbers, { good: [['[1, 2]', [1, 2]]], bad: ['[1', '["1"]', '{}'] }],
  [
    'a host',
    Read.host,
    {
      good: [
        ['0.0.0.0', '0.0.0.0'],
        ['::', '::'],
        ['a.example', 'a.example'],
      ],
      bad: ['not a host', 'a/b'],
    },
  ],
  [
    'a network',
    Read.network,
    {
      good: [
        ['10.0.0.0/8', '10.0.0.0/8'],
        ['::1', '::1'],
        ['fd00::/128', 'fd00::/128'],
      ],
      bad: ['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', '10', 'a.example', '/8'],
    },
  ],
  [
    'a URL to append paths to',
    Read.baseUrl,
    {
      good: [
        ['https://a.example/', 'https://a.example'],
        ['http://a.example:1/b//', 'http://a.example:1/b'],
      ],
      bad: [
        'a.example',
        'ftp://a.example',
        'https://a.example/?key=1',
        'https://me@a.example',
        'https://a#b',
      ],
    },
  ],
  [
    'an origin',
    Read.origin,
    { good: [['http://localhost:5173', 'http://localhost:5173']], bad: ['http://a/', 'http://a/b', 'a'] },
  ],
  [
    'an address',
    Read.address,
    { good: [[ADDRESS.toLowerCase(), ADDRESS]], bad: ['0x12', ADDRESS.replace('E', 'e')] },
  ],
]

describe.each(CASES)('%s', (_what, { read }, { good, bad }) => {
  it.each(good)('is %s', (text, value) => {
    expect(read(text)).toEqual(value)
  })
  it.each(bad)('is not %s', (text) => {
    expect(read(text)).toBeUndefined()
  })
})

describe('what must not be seen', () => {
  it('is a key of an account', () => {
    expect(Read.privateKey.read(KEY)?.reveal()).toBe(KEY)
    // The last one is not below the order of the secp256k1 curve.
    for (const bad of ['0xhunter2', KEY.slice(2), `${KEY}00`, `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`])
      expect(Read.privateKey.read(bad)).toBeUndefined()
  })

  it('is a token that a header can hold, as the file that it comes from may have it', () => {
    expect(Read.token.read('sk-hunter2\n')?.reveal()).toBe('sk-hunter2')
    for (const bad of ['sk-hunter2\nsk-hunter3', 'hunter 2', 'hunter…', ' '])
      expect(Read.token.read(bad)).toBeUndefined()
  })

  it('is every URL of a database that can be connected to', () => {
    const socket = 'postgres://me@/market?host=/run/postgresql'
    expect(Read.postgresUrl.read(socket)?.reveal()).toBe(socket)
    for (const bad of ['postgres://me:100%@host/market', 'mysql://root:hunter2@localhost/db'])
      expect(Read.postgresUrl.read(bad)).toBeUndefined()
  })
})

it('a reader says in its own words what it expects', () => {
  expect(Read.whole(1).expected).toBe('a whole number from 1 up')
  expect(Read.oneOf('a', 'b').expected).toBe('a or b')
  expect(Read.oneOf('a', 'b', 'c').expected).toBe('one of a, b, c')
})
