import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefersHtml } from './accept.ts'

describe('a page is wanted', () => {
  it.each([
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html',
    'TEXT/HTML ; Q=0.5, application/json; q=0.4',
    'application/json;q=0,*/*',
    'text/*, */*;q=0.1',
    'application/json;q=0.2, text/html;charset=utf-8;q=0.3',
  ])('with %s', (accept) => {
    expect(prefersHtml(accept)).toBe(true)
  })
})

describe('JSON is wanted', () => {
  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'text/html, application/json',
    'application/json, text/html;q=0.9',
    'text/html;q=0.5, application/*',
    'text/html;q=0',
    'text/html;q=2, */*;q=0.5',
    'text/html;q=x, */*;q=0.5',
    'image/png',
    ',;q=,',
  ])('with %j', (accept) => {
    expect(prefersHtml(accept)).toBe(false)
  })
})

it('whatever is sent, there is an answer', () => {
  fc.assert(
    fc.property(fc.string(), (accept) => {
      expect(prefersHtml(accept)).toBeTypeOf('boolean')
    }),
  )
})
