import { freshDatabase } from '@referrer/database/testing'
import { expect, it } from 'vitest'
import { cut, inBatches, productText } from './text.ts'

it('cuts between characters', () => {
  expect(cut('abc', 3)).toBe('abc')
  expect(cut('abc', 2)).toBe('ab')
  expect(cut('😀😀😀', 2)).toBe('😀😀')
  expect(cut('a😀b', 1)).toBe('a')
})

it('makes parts of so many texts that fit, and of one that fits nowhere', () => {
  const split = (...texts: string[]) => inBatches(texts, { most: 3, room: 5, sizeOf: (text) => text.length })
  expect(split()).toEqual([])
  expect(split('a', 'b', 'c', 'd')).toEqual([['a', 'b', 'c'], ['d']])
  expect(split('aaa', 'bb', 'c')).toEqual([['aaa', 'bb'], ['c']])
  expect(split('a', 'bbbbbbb', 'c')).toEqual([['a'], ['bbbbbbb'], ['c']])
})

it('embeds of a product its name, its category and the beginning of its description', async () => {
  const { sql, drop } = await freshDatabase()
  const textOf = async (name: string, category: string, description: string) => {
    const [row] = await sql<{ text: string }[]>`
      SELECT ${productText(sql)} AS text FROM (VALUES (${name}, ${category}, ${description})) AS p (name, category, description)`
    return row?.text
  }
  expect(await textOf('Weather', 'api', `${'é'.repeat(200)}x`)).toBe(`Weather\napi\n${'é'.repeat(200)}`)
  expect(await textOf('Weather', '', '')).toBe('Weather')
  expect(await textOf('', '', '')).toBe('')
  await drop()
})
