import { describe, expect, it } from 'vitest'
import { readQuestion, writeQuestion } from './question.ts'

describe('what a product is asked', () => {
  it('is one name=value on a line', () => {
    expect(readQuestion('')).toEqual({ query: {} })
    expect(readQuestion(' city = Tokyo \n\nexpression=a=b\nempty=')).toEqual({
      query: { city: 'Tokyo', expression: 'a=b', empty: '' },
    })
  })

  it('is written as it is read', () => {
    const query = { city: 'Tokyo', expression: 'a=b', empty: '' }
    expect(readQuestion(writeQuestion(query))).toEqual({ query })
  })

  it('says what is wrong with a line', () => {
    expect(readQuestion('Tokyo')).toEqual({ error: 'Write “Tokyo” as name=value.' })
    expect(readQuestion('=Tokyo')).toEqual({ error: 'Write “=Tokyo” as name=value.' })
    expect(readQuestion(`a=${'b'.repeat(1_001)}`)).toEqual({ error: '“a” is too long.' })
    expect(readQuestion('a=1\n'.repeat(21))).toEqual({ error: 'At most 20 lines.' })
  })
})
