import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { contentOf, fieldsOf, wrongDescription, wrongIn } from './content.ts'

const API_SCHEMA = JSON.parse(
  readFileSync(new URL('../../../../../service/review-schemas/api.json', import.meta.url), 'utf8'),
)
const schema = API_SCHEMA.schema ?? API_SCHEMA

it('asks for what the schema of a category requires, besides rating and description', () => {
  expect(fieldsOf(schema).map(({ path, kind }) => [path.join('.'), kind])).toEqual([
    ['calls', 'integer'],
    ['successes', 'integer'],
    ['failures', 'integer'],
    ['latency_ms.p50', 'number'],
    ['latency_ms.p95', 'number'],
    ['latency_ms.p99', 'number'],
    ['cost_usdc', 'amount'],
    ['cost_per_call_usdc', 'amount'],
  ])
  expect(fieldsOf(schema).map(({ label }) => label)).toContain('Latency p50, in ms')
  expect(fieldsOf(undefined)).toEqual([])
})

it('writes numbers as numbers and amounts as exact text', () => {
  const fields = fieldsOf(schema)
  const texts = ['10', '9', '1', '12.5', '20', '30', '0.40', '0.04']
  const values = fields.map((field, index) => ({ field, text: texts[index] as string }))
  expect(JSON.parse(contentOf(4, ' Fast. ', values))).toEqual({
    rating: 4,
    description: 'Fast.',
    calls: 10,
    successes: 9,
    failures: 1,
    latency_ms: { p50: 12.5, p95: 20, p99: 30 },
    cost_usdc: '0.40',
    cost_per_call_usdc: '0.04',
  })
})

it('says what is wrong with a figure or a description', () => {
  const [calls, , , p50, , , cost] = fieldsOf(schema)
  expect(calls && wrongIn(calls, '1.5')).toBe('Enter a whole number.')
  expect(p50 && wrongIn(p50, '-1')).toBeDefined()
  expect(cost && wrongIn(cost, '1e3')).toBeDefined()
  expect(cost && wrongIn(cost, ' 0.40 ')).toBeUndefined()
  expect(wrongDescription('a <b>')).toBe('Leave out the signs < and >.')
  expect(wrongDescription(' ')).toBeDefined()
  expect(wrongDescription('It works.')).toBeUndefined()
})
