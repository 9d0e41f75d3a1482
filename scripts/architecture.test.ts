import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  circles,
  FLOORS_OF_PACKAGES,
  FLOORS_OF_SERVICE,
  type Import,
  isTest,
  reachingIn,
  readImports,
  specifiersOf,
  upward,
} from './architecture.ts'

const all = readImports(dirname(import.meta.dirname))
const product = all.filter(({ from }) => !isTest(from))
const planted = (from: string, to: string): Import[] => [...product, { from, to, isRelative: true }]

describe('the house', () => {
  test('has imports to look at, in every package and on every floor of the service', () => {
    const seen = (part: string) => product.filter(({ from }) => from.startsWith(`${part}/`)).length
    for (const part of [...FLOORS_OF_PACKAGES, ...FLOORS_OF_SERVICE].flat()) {
      if (part !== 'packages/ranking') expect([part, seen(part) > 0]).toEqual([part, true])
    }
  })

  test('has packages that import lower ones only', () => {
    expect(upward(product, FLOORS_OF_PACKAGES)).toEqual([])
  })

  test('has a service whose floors import lower ones only', () => {
    expect(upward(product, FLOORS_OF_SERVICE)).toEqual([])
  })

  test('has no circle of files, of folders or of packages', () => {
    expect(circles(product)).toEqual([])
  })

  test('has no circle of files in its tests', () => {
    expect(
      circles(all).filter((circle) => circle.split(' ⇄ ').every((part) => part.endsWith('.ts'))),
    ).toEqual([])
  })

  test('has packages whose sources are entered by their exports alone, by tests too', () => {
    expect(reachingIn(all)).toEqual([])
  })
})

describe('the guard of the house', () => {
  test('sees an import that goes up, between packages and between floors', () => {
    const [low, high] = ['packages/chain/src/index.ts', 'packages/service/src/app/service.ts']
    expect(upward(planted(low, high), FLOORS_OF_PACKAGES)).toEqual([`${low} imports ${high}`])
    const kit = 'packages/service/src/kit/context.ts'
    expect(upward(planted(kit, high), FLOORS_OF_SERVICE)).toEqual([`${kit} imports ${high}`])
  })

  test('sees a package that imports one of its own floor', () => {
    const [one, other] = ['packages/service/src/app/service.ts', 'packages/signer/src/main.ts']
    expect(upward(planted(one, other), FLOORS_OF_PACKAGES)).toEqual([`${one} imports ${other}`])
  })

  test('sees a circle of two files and one of two folders', () => {
    const edge = (from: string, to: string): Import => ({ from, to, isRelative: true })
    expect(circles([edge('p/a.ts', 'p/b.ts'), edge('p/b.ts', 'p/c.ts'), edge('p/c.ts', 'p/a.ts')])).toContain(
      'p/a.ts ⇄ p/b.ts ⇄ p/c.ts',
    )
    const folders = [edge('p/one/a.ts', 'p/two/a.ts'), edge('p/two/b.ts', 'p/one/b.ts')]
    expect(circles(folders)).toEqual(['p/one ⇄ p/two'])
  })

  test('sees a relative import of another package', () => {
    const [from, to] = ['sim/src/market.ts', 'packages/service/src/kit/money.ts']
    expect(reachingIn([{ from, to, isRelative: true }])).toEqual([`${from} reaches into ${to}`])
  })

  test('reads every form of import', () => {
    const text = `import { a } from './a.ts'
import type { B } from './b.ts'
import {
  c,
} from "./c.ts"
export * from './d.ts'
const e = await import('./e.ts')
import './f.ts'
// says './g.ts'
 * import { h } from './h.ts'
export const i = new URL('./i.ts', import.meta.url)`
    expect(specifiersOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts'])
  })
})
