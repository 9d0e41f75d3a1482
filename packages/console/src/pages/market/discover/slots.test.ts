import { describe, expect, it } from 'vitest'
import { apart, type SlateEntry, slotWords } from './slots.ts'

const entry = (slot: SlateEntry['slot'], excluded_reason?: SlateEntry['excluded_reason']) =>
  ({ slot, excluded_reason }) as SlateEntry

describe('why a review is shown', () => {
  it('is said in words for each slot, and for each reason to leave one out', () => {
    const words = [
      entry('highlight'),
      entry('newcomer'),
      entry('dissent'),
      entry('overflow', 'below ranking threshold'),
      entry('excluded', 'self_review'),
      entry('excluded', 'transfer_cooldown'),
      entry('excluded'),
    ].map((one) => slotWords(one).name)
    expect(words).toEqual([
      'Highlight',
      'Newcomer',
      'Dissent',
      'Lower ranked',
      'Own product',
      'Sold lately',
      'Left out',
    ])
  })

  it('parts those to read from those that are only there to be complete', () => {
    const reviews = [
      entry('highlight'),
      entry('dissent'),
      entry('excluded', 'self_review'),
      entry('overflow'),
    ]
    const { chosen, others } = apart(reviews)
    expect(chosen.map(({ slot }) => slot)).toEqual(['highlight', 'dissent'])
    expect(others.map(({ slot }) => slot)).toEqual(['excluded', 'overflow'])
    expect(apart(null)).toEqual({ chosen: [], others: [] })
  })
})
