import { expect, test } from 'vitest'
import { generatedItems } from './catalogue.ts'
import { Space } from './vectors.ts'

test('a smaller catalogue is the beginning of a larger one, and the same every time', () => {
  const large = [...generatedItems(300)]
  expect([...generatedItems(100)]).toEqual(large.slice(0, 100))
  expect(new Set(large.map(({ name }) => name)).size).toBeGreaterThan(290)
  for (const { description } of large) {
    const words = description.split(' ').length
    expect(words).toBeGreaterThanOrEqual(30)
    expect(words).toBeLessThanOrEqual(80)
  }
})

test('vectors of a kind lie together, and those of a theme nearer than others', () => {
  const space = new Space()
  const cosine = (a: Int8Array, b: Int8Array) => {
    const dot = (x: Int8Array, y: Int8Array) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0)
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
  }
  const one = space.near(3, 1, 100)
  expect(cosine(one, space.near(3, 1, 200))).toBeGreaterThan(cosine(one, space.near(3, 2, 200)) + 0.1)
  expect(cosine(one, space.near(3, 2, 200))).toBeGreaterThan(cosine(one, space.near(4, 1, 200)) + 0.1)
  expect(space.near(3, 1, 100)).toEqual(one)
})
