import { describe, expect, it } from 'vitest'
import { linesOf, shownText, widthOf } from './words.ts'

describe('text in a picture', () => {
  it('stays as it is where fonts have shapes for it', () => {
    const text = 'Tageslicht für Zürich, Ελληνικά, Русский, עברית, العربية: 12 %'
    expect(shownText(text, 200)).toBe(text)
  })

  it('loses what turns it around, what nobody sees, and what has no shape', () => {
    expect(shownText('a\u202Eb\u200Bc\uFEFFd\u0000e\u2067f', 50)).toBe('abcdef')
    expect(shownText('天気 weather 😀👩‍🚀 now \uE000\uFFFE\uD800', 50)).toBe('weather now')
    expect(shownText('one\n\n two\t three', 50)).toBe('one two three')
  })

  it('keeps digits, which are parts of some emoji', () =>
    expect(shownText('#1 of 10*', 50)).toBe('#1 of 10*'))

  it('has at most two marks on a letter', () =>
    expect(shownText('e\u0301\u0302\u0303\u0304x', 9)).toBe('e\u0301\u0302x'))

  it('is cut at its most characters, and not within one', () => {
    expect(shownText('abcdef', 5)).toBe('abcd…')
    expect(shownText('𝐚𝐛𝐜𝐝𝐞𝐟', 5)).toBe('𝐚𝐛𝐜𝐝…')
  })
})

describe('lines', () => {
  it('are broken between words and are never wider than they may be', () => {
    const lines = linesOf('When the sun rises and sets in a city', 12, 9)
    expect(lines.join(' ')).toBe('When the sun rises and sets in a city')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(12)
  })

  it('break a word that is longer than a line', () => {
    const lines = linesOf('w'.repeat(40), 10, 9)
    expect(lines.join('')).toBe('w'.repeat(40))
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(10)
  })

  it('end in dots where there is more', () => {
    const lines = linesOf('one two three four five six seven', 6, 2)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/…$/)
    expect(widthOf(String(lines[1]))).toBeLessThanOrEqual(6)
  })

  it('are none without text', () => expect(linesOf('', 10, 2)).toEqual([]))
})
