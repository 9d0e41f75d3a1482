import { describe, expect, it } from 'vitest'
import { RequestError } from '../request-error.ts'
import { readSummaryRequest, summarise } from './summary.ts'

const TEXT =
  'The shop opens at nine. Bees make honey from nectar. My cousin likes trains. Honey keeps for years when bees seal it.'

const post = (body: string) => new Request('http://shop.test/summary', { method: 'POST', body })
const get = (query: string) => new Request(`http://shop.test/summary?${query}`)

describe('a summary', () => {
  it('holds the sentences about what the text is about, in their order', () => {
    expect(summarise({ text: TEXT, sentences: 2 })).toEqual({
      summary: 'Bees make honey from nectar. Honey keeps for years when bees seal it.',
      sentences: 2,
      words: 13,
      words_of_text: 22,
    })
  })

  it('is the whole text where that is shorter', () => {
    expect(summarise({ text: 'One.\n\nTwo.', sentences: 5 }).summary).toBe('One. Two.')
  })

  it('can be asked for in a body and in a query', async () => {
    const asked = { text: TEXT, sentences: 1 }
    expect(await readSummaryRequest(post(JSON.stringify(asked)))).toEqual(asked)
    expect(await readSummaryRequest(get('text=Bees&sentences=1'))).toEqual({ text: 'Bees', sentences: 1 })
    expect(await readSummaryRequest(get('text=Bees'))).toEqual({ text: 'Bees', sentences: 2 })
  })

  it.each([
    post('{'),
    post('[]'),
    post('{"text":" "}'),
    post('{"text":7}'),
    post(JSON.stringify({ text: 'x'.repeat(20_001) })),
    post(`{"text":"Bees"}${' '.repeat(40_000)}`),
    post('{"text":"Bees","sentences":11}'),
    get('sentences=1'),
    get('text=Bees&sentences=1.5'),
  ])('cannot be asked for without a text or with an odd length (%#)', async (request) => {
    await expect(readSummaryRequest(request)).rejects.toThrow(RequestError)
  })
})
