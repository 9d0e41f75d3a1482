import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkText, MOST_BYTES, parseContent, satisfactionOf, searchedForIn } from './content.ts'

const content = (more: string) => `{"rating":3,"description":"fine"${more}}`

const SEARCH = 'searched_for must be a text of 3 to 200 characters, or be left out'

describe('the text of a review', () => {
  it.each([
    ['nothing', '', 'content_json is not JSON'],
    ['two values', '{"rating":3,"description":"x"}{}', 'content_json is not JSON'],
    [
      'what would end the JSON around it',
      '{"rating":3,"description":"x"},"status":"published"',
      'content_json is not JSON',
    ],
    ['a raw zero', '{"rating":3,"description":"x\0"}', 'content_json is not JSON'],
    ['a list', '[1]', 'content_json is not a JSON object'],
    ['null', 'null', 'content_json is not a JSON object'],
    ['no rating', '{"description":"x"}', 'rating must be a whole number from 1 to 5'],
    ['a rating of 0', '{"rating":0,"description":"x"}', 'rating must be a whole number from 1 to 5'],
    ['a rating of 6', '{"rating":6,"description":"x"}', 'rating must be a whole number from 1 to 5'],
    ['half a star', '{"rating":4.5,"description":"x"}', 'rating must be a whole number from 1 to 5'],
    ['a rating as text', '{"rating":"5","description":"x"}', 'rating must be a whole number from 1 to 5'],
    ['no description', '{"rating":5}', 'description must be a text that is not blank'],
    [
      'a blank description',
      '{"rating":5,"description":" \\n\\u3000"}',
      'description must be a text that is not blank',
    ],
    ['a tag', '{"rating":5,"description":"<b>"}', 'description must not contain angle brackets'],
    ['a hidden tag', '{"rating":5,"description":"\\u003cb"}', 'description must not contain angle brackets'],
    ['a search of null', content(',"searched_for":null'), SEARCH],
    ['a search that is no text', content(',"searched_for":["weather"]'), SEARCH],
    ['a search that is too short', content(',"searched_for":" ab "'), SEARCH],
    ['a search that is too long', content(`,"searched_for":"${'a'.repeat(201)}"`), SEARCH],
    ['two ratings', '{"rating":5,"description":"x","rating":1}', 'content_json names a key twice'],
    [
      'two ratings, one in disguise',
      '{"rating":5,"description":"x","r\\u0061ting":1}',
      'content_json names a key twice',
    ],
    ['a key twice further down', content(',"a":[{"b":1,"b":2}]'), 'content_json names a key twice'],
    ['a number beyond all doubles', content(',"a":1e400'), 'content_json holds a number that is too large'],
    [
      'half a character',
      content(',"a":"\\ud800"'),
      'content_json holds a text that is not well-formed Unicode, or the character zero',
    ],
    [
      'half a character in a key',
      content(',"\\udc00":1'),
      'content_json holds a text that is not well-formed Unicode, or the character zero',
    ],
    [
      'the character zero',
      content(',"a":"\\u0000"'),
      'content_json holds a text that is not well-formed Unicode, or the character zero',
    ],
    [
      'a deep nest',
      content(`,"a":${'['.repeat(8_000)}${']'.repeat(8_000)}`),
      'content_json is nested deeper than 32 levels',
    ],
  ])('with %s is refused', (_what, text, message) => {
    checkText(text)
    expect(() => parseContent(text)).toThrow(`${message}: invalid input`)
  })

  it('is refused when it is too long in bytes, or no Unicode', () => {
    const most = content('').length
    checkText(' '.repeat(MOST_BYTES - most) + content(''))
    const long = `${'ä'.repeat(MOST_BYTES / 2)} `
    expect(() => checkText(long)).toThrow(`content_json is larger than ${MOST_BYTES} bytes: invalid input`)
    expect(() => checkText('"\ud800"')).toThrow('content_json is not well-formed Unicode: invalid input')
  })

  it('may hold further keys, whatever they are called', () => {
    const text = content(',"__proto__":{"rating":9},"constructor":1,"a:b":"c\\":","":[{"":""}]')
    expect(parseContent(text)).toMatchObject({ rating: 3, description: 'fine' })
    expect([1, 2, 3, 4, 5].map((rating) => satisfactionOf({ rating, description: '' }))).toEqual([
      0, 0.25, 0.5, 0.75, 1,
    ])
  })

  it.each(['abc', '日本語', ` ${'😀'.repeat(200)} `])('may tell what was searched for: %s', (searched) => {
    const text = content(`,"searched_for":${JSON.stringify(searched)}`)
    expect(parseContent(text)).toMatchObject({ searched_for: searched })
    expect(searchedForIn(text)).toBe(searched)
  })

  it('that was accepted before searches were checked tells none if it would be refused now', () => {
    for (const value of ['null', '7', '"ab"', `"${'a'.repeat(201)}"`])
      expect(searchedForIn(content(`,"searched_for":${value}`))).toBe('')
    for (const text of ['', 'null', '7', content('')]) expect(searchedForIn(text)).toBe('')
  })

  it('that was accepted can stand in the middle of JSON, and reads the same there', () => {
    const json = fc.json({ maxDepth: 4 }).map((value) => content(`,"more":${value}`))
    const broken = fc
      .tuple(json, fc.nat(), fc.constantFrom('"', '}', '{', ',', '\\', '\n', '[', '0'))
      .map(([text, at, piece]) => text.slice(0, at % text.length) + piece + text.slice(at % text.length))
    fc.assert(
      fc.property(fc.oneof(json, broken), (text) => {
        let accepted: unknown
        try {
          accepted = parseContent(text)
        } catch {
          return
        }
        expect(JSON.parse(`{"content_json":${text},"status":"published"}`)).toEqual({
          content_json: accepted,
          status: 'published',
        })
      }),
    )
  })

  it('is refused for a key that is there twice exactly when one is', () => {
    const keys = fc.array(
      fc
        .string({ unit: 'binary', maxLength: 4 })
        .filter(
          (key) => !key.includes('\0') && key.isWellFormed() && key !== 'rating' && key !== 'description',
        ),
    )
    fc.assert(
      fc.property(keys, (names) => {
        const text = content(names.map((name) => `,${JSON.stringify(name)} : "${'a:'.repeat(2)}"`).join(''))
        const parse = () => parseContent(text)
        if (new Set(names).size === names.length) parse()
        else expect(parse).toThrow('names a key twice')
      }),
    )
  })
})
