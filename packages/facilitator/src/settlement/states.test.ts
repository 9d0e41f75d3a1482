import { readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  canFollow,
  FIRST_STATES,
  IllegalTransition,
  MEMORY_STATES,
  move,
  type Next,
  STORED_STATES,
  type State,
  TRANSITIONS,
} from './states.ts'

const ALL: State[] = [...MEMORY_STATES, ...STORED_STATES]
const docs = readFileSync(new URL('../../../../docs/paying.md', import.meta.url), 'utf8')
const [, diagram = ''] = /^```mermaid\nstateDiagram-v2\n(.*?)^```$/ms.exec(docs) ?? []
const lines = diagram
  .trim()
  .split('\n')
  .map((line) => line.trim())
const arrows = lines.filter((line) => line.includes('-->')).toSorted()

describe('the drawn machine', () => {
  test('has the transitions of the table, by their names, and no others', () => {
    const inTable = ALL.flatMap((from) =>
      Object.entries(TRANSITIONS[from]).map(([to, name]) => `${from} --> ${to}: ${name}`),
    )
    const ends = ALL.filter((state) => Object.keys(TRANSITIONS[state]).length === 0)
    expect(arrows).toEqual(
      [
        ...FIRST_STATES.map((state) => `[*] --> ${state}`),
        ...inTable,
        ...ends.map((state) => `${state} --> [*]`),
      ].toSorted(),
    )
  })

  test('marks the states that Postgres holds', () => {
    expect(lines).toContain(`class ${STORED_STATES.join(',')} stored`)
  })

  test('is followed by a line for each state, which tells where it is kept', () => {
    const rows = [...docs.matchAll(/^\| `(\w+)` +\| (memory|Postgres)\b/gm)].map(([, ...cells]) => cells)
    expect(rows).toEqual([
      ...MEMORY_STATES.map((state) => [state, 'memory']),
      ...STORED_STATES.map((state) => [state, 'Postgres']),
    ])
  })
})

describe('a payment', () => {
  const pairs = ALL.flatMap((from) => ALL.map((to) => [from, to] as const))

  test.each(pairs.filter(([from, to]) => !canFollow(from, to)))('that is %s never becomes %s', (from, to) => {
    const payment = { state: from }
    expect(() => move(payment, to)).toThrow(IllegalTransition)
    expect(payment.state).toBe(from)
  })

  test('can get to an end from every state, and from a first state to every state', () => {
    const after = (from: State, known = new Set<State>()): Set<State> => {
      for (const to of ALL) {
        if (!canFollow(from, to) || known.has(to)) continue
        known.add(to)
        after(to, known)
      }
      return known
    }
    for (const state of ALL) {
      const isEnd = Object.keys(TRANSITIONS[state]).length === 0
      expect(isEnd || after(state).has('final'), state).toBe(true)
    }
    expect(new Set([...FIRST_STATES, ...FIRST_STATES.flatMap((first) => [...after(first)])])).toEqual(
      new Set(ALL),
    )
  })

  test('has next states that the compiler knows', () => {
    expectTypeOf<Next<'checked'>>().toEqualTypeOf<'enqueued' | 'taken' | 'refused'>()
    expectTypeOf<Next<'final'>>().toEqualTypeOf<never>()
  })
})
