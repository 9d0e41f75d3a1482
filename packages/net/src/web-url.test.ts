import { describe, expect, it } from 'vitest'
import { parseWebUrl } from './web-url.ts'

describe('a web URL', () => {
  it.each([
    'https://shop.example/buy?x=1#here',
    'http://shop.example:8080',
    'HTTPS://Shop.Example/',
    'https://köln.example/',
  ])('is %s', (text) => {
    expect(parseWebUrl(text)?.href).toBe(new URL(text).href)
  })

  it.each([
    '',
    'shop.example',
    '/buy',
    '//shop.example/',
    'ftp://shop.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,hello',
    'http:shop.example',
    'http:/shop.example',
    'http:///shop.example',
    'http:\\\\shop.example',
    'http://shop.example\\@evil.example/',
    ' https://shop.example/',
    'https://shop.example/ ',
    'https://shop.example/a b',
    'ht\ntps://shop.example/',
    'https://shop.example/\n',
    'https://user:secret@shop.example/',
    'https://user@shop.example/',
    'https://shop.example:99999/',
    'https://256.256.256.256/',
    'http://[::1/',
  ])('is not %j', (text) => {
    expect(parseWebUrl(text)).toBeUndefined()
  })
})
