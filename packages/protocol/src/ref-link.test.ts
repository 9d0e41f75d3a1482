import { describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import { vector } from '../test/token.ts'
import * as RefLink from './ref-link.ts'

const { token } = vector

describe('ref link', () => {
  test.each([
    ['https://referrer.example', `https://referrer.example/r/${token}`],
    ['https://referrer.example/', `https://referrer.example/r/${token}`],
    ['http://127.0.0.1:8080', `http://127.0.0.1:8080/r/${token}`],
    ['https://referrer.example/market/r', `https://referrer.example/market/r/r/${token}`],
  ])('joins %s and a token, and takes them apart again', (baseUrl, link) => {
    expect(RefLink.serialize({ baseUrl, token })).toBe(link)
    expect(RefLink.parse(link)).toEqual({ baseUrl: baseUrl.replace(/\/$/, ''), token })
  })

  test.each([
    ['no web address', `ftp://referrer.example/r/${token}`],
    ['credentials', `https://a:b@referrer.example/r/${token}`],
    ['a query', `https://referrer.example/r/${token}?utm=1`],
    ['a fragment', `https://referrer.example/r/${token}#top`],
    ['another path', `https://referrer.example/x/${token}`],
    ['no token', 'https://referrer.example/r/'],
    ['something behind the token', `https://referrer.example/r/${token}/more`],
    ['a token of other characters', 'https://referrer.example/r/a+b='],
    ['a bare token', token],
    ['no text', 7],
  ])('refuses %s', async (_, link) => {
    expect(await codeOf(() => RefLink.parse(link))).toBe('invalid_ref_link')
  })

  test('refuses to make a link of anything but a token', async () => {
    for (const bad of ['', 'a/b', 'a b', 'A'.repeat(4097)]) {
      expect(await codeOf(() => RefLink.serialize({ baseUrl: 'https://referrer.example', token: bad }))).toBe(
        'invalid_ref_link',
      )
    }
    expect(await codeOf(() => RefLink.serialize({ baseUrl: 'referrer.example', token }))).toBe(
      'invalid_ref_link',
    )
  })

  test('answers hostile text with a link or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText(`https://referrer.example/r/${token}`), RefLink.parse)
  })
})
