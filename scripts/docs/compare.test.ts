import { describe, expect, it } from 'vitest'
import { readDocument } from './blocks.ts'
import { missingLine } from './compare.ts'

describe('what a document says is printed', () => {
  it('is compared line by line', () => {
    expect(missingLine(['a', 'b'], ['a', 'b', ''])).toBeUndefined()
    expect(missingLine(['a', 'b'], ['a', 'c'])).toBe('b')
    expect(missingLine(['a', 'b'], ['b', 'a'])).toBe('a')
    expect(missingLine(['a'], ['a', 'b'])).toMatch('it printed: b')
    expect(missingLine(['a'], [])).toBe('a')
  })

  it('may leave out text and lines with an ellipsis, and no others', () => {
    expect(missingLine(['a … d'], ['a b c d'])).toBeUndefined()
    expect(missingLine(['a … d'], ['a b c'])).toBe('a … d')
    expect(missingLine(['a', '  …', 'd'], ['a', 'b', 'c', 'd'])).toBeUndefined()
    expect(missingLine(['a', '…'], ['a', 'b'])).toBeUndefined()
    expect(missingLine(['a', '…', 'b', 'd'], ['a', 'x', 'b', 'c', 'd'])).toBe('d')
  })

  it('may have other hashes, links, times and durations, and no other numbers', () => {
    expect(missingLine(['paid 0.01 USDC, 0x26fb…'], [`paid 0.01 USDC, 0x${'ab'.repeat(32)}`])).toBeUndefined()
    expect(missingLine(['paid 0.01 USDC'], ['paid 0.02 USDC'])).toBe('paid 0.01 USDC')
    expect(missingLine(['in 3.2 s at 02:05:18'], ['in 41 s at 12:00:00'])).toBeUndefined()
    expect(missingLine(['http://a/r/eyJ2Ijo0LCJj…'], [`http://a/r/${'x'.repeat(90)}`])).toBeUndefined()
    expect(missingLine(['since 2026-11-15T07:19Z'], ['since 2027-01-01T00:00:00Z'])).toBeUndefined()
  })

  it('is looked for within what was printed where it is an excerpt', () => {
    expect(missingLine(['b'], ['a', 'b', 'c'], { isExcerpt: true })).toBeUndefined()
    expect(missingLine(['b', 'c'], ['b', 'x', 'c'], { isExcerpt: true })).toBe('c')
  })
})

describe('the blocks of a document', () => {
  const fence = (language: string, ...lines: string[]) => [`\`\`\`${language}`, ...lines, '```'].join('\n')

  it('are commands with what they print, commands alone, output, and files', () => {
    const { blocks } = readDocument(
      [
        fence('console', '$ one', 'prints', '$ two \\', '  three'),
        fence('sh', '# a comment', 'four \\', '  five', 'six'),
        fence('', 'output'),
        fence('ts', '// shop.ts', 'code'),
        fence('ts', 'an excerpt'),
        fence('mermaid', 'a picture'),
      ].join('\n\ntext\n\n'),
    )
    const until = undefined
    expect(blocks).toEqual([
      {
        line: 1,
        kind: 'commands',
        commands: [
          { text: 'one', prints: ['prints'], until },
          { text: 'two \\\n  three', prints: [], until },
        ],
      },
      {
        line: 10,
        kind: 'commands',
        commands: [
          { text: 'four \\\n  five', prints: undefined, until },
          { text: 'six', prints: undefined, until },
        ],
      },
      { line: 19, kind: 'output', lines: ['output'] },
      { line: 25, kind: 'file', name: 'shop.ts', text: '// shop.ts\ncode\n' },
    ])
  })

  it('are not run, or run in the background, where a comment right above says so', () => {
    const text = [
      '<!-- not run: it needs a wallet -->',
      '',
      fence('sh', 'pay'),
      '',
      '<!-- in the background until: ready -->',
      fence('sh', 'start'),
      '<!-- not run: text between them takes the comment away -->',
      'text',
      fence('sh', 'end'),
    ].join('\n')
    const { blocks, skipped } = readDocument(text)
    expect(skipped).toEqual([{ line: 3, reason: 'it needs a wallet' }])
    expect(blocks.map((block) => block.kind === 'commands' && block.commands[0])).toEqual([
      { text: 'start', prints: undefined, until: 'ready' },
      { text: 'end', prints: undefined, until: undefined },
    ])
  })
})
