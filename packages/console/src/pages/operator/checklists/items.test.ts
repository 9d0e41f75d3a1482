import { describe, expect, it } from 'vitest'
import { itemsIn } from './items.ts'

describe('the items of a checklist', () => {
  it('are the lines that say something', () => {
    expect(itemsIn(' one \n\n two\n')).toEqual({ items: ['one', 'two'] })
  })

  it('are one to twenty, none too long', () => {
    expect(itemsIn(' \n').error).toBe('Write at least one item.')
    expect(itemsIn('x\n'.repeat(20)).error).toBeUndefined()
    expect(itemsIn('x\n'.repeat(23)).error).toBe('Leave out 3: twenty are the most.')
    expect(itemsIn(`fine\n${'x'.repeat(201)}`).error).toBe('Item 2 is longer than 200 characters.')
  })
})
