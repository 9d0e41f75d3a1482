import { describe, expect, it } from 'vitest'
import { measurementsIn } from './measurements.ts'

const schema = {
  properties: {
    rating: {},
    description: {},
    size_bytes: { title: 'Size' },
    region: {},
    is_free: {},
    parts: { properties: { a: {}, b: {} } },
    list: {},
  },
}
const shown = (content: object) => measurementsIn(JSON.stringify(content), schema)

describe('what a reviewer measured', () => {
  it('is what the schema names, in its order, with names and units to read', () => {
    const content = {
      region: 'eu',
      is_free: false,
      parts: { b: 2, a: 1, c: 3 },
      size_bytes: 1234567,
      other: 1,
    }
    expect(shown({ rating: 5, description: 'x', ...content })).toEqual([
      { name: 'Size', value: '1,234,567 bytes' },
      { name: 'Region', value: 'eu' },
      { name: 'Is free', value: 'no' },
      { name: 'Parts a', value: '1' },
      { name: 'Parts b', value: '2' },
    ])
  })

  it('is shown as it was written, to the last digit', () => {
    const text = '{"size_bytes": 10000000000000000.000000000000000001, "region": "1e-7"}'
    expect(measurementsIn(text, schema)).toEqual([
      { name: 'Size', value: '10,000,000,000,000,000.000000000000000001 bytes' },
      { name: 'Region', value: '1e-7' },
    ])
  })

  it('leaves out what cannot be read at a glance, and shortens the rest', () => {
    expect(shown({ list: [1], parts: {}, region: null, is_free: { a: 1 } })).toEqual([])
    expect(shown({ parts: { a: { b: 1 }, b: 'x'.repeat(99) } })).toEqual([
      { name: 'Parts b', value: `${'x'.repeat(59)}…` },
    ])
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`k${at}`, at]))
    expect(measurementsIn(JSON.stringify(many), { properties: many })).toHaveLength(24)
    expect(measurementsIn('{"a":1}', {})).toEqual([])
    expect(measurementsIn('{"constructor":1}', { properties: { toString: {} } })).toEqual([])
  })
})
