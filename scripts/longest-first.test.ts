import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LONGEST, longestFirst } from './longest-first.ts'

const named = (...paths: string[]) => paths.map((moduleId) => ({ moduleId }))

it('the files that take longest run first, in the order of the list, and the rest in the order that it had', () => {
  const [longest = '', second = ''] = LONGEST
  expect(longestFirst(named('/b.test.ts', second, '/a.test.ts', longest))).toEqual(
    named(longest, second, '/b.test.ts', '/a.test.ts'),
  )
})

it('every file that is listed as long exists', () => {
  expect(LONGEST.filter((path) => !existsSync(path))).toEqual([])
})
