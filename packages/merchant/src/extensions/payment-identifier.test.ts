import { expect, it } from 'vitest'
import { answerAgain, keptOf } from '../answer-again.ts'
import { purposeOf } from './payment-identifier.ts'

it('an answer is the same again, without a body where it has none; a stream of unknown length is not read', async () => {
  const cookies = new Headers([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ])
  const response = Response.json({ a: 1 }, { status: 201, headers: cookies })
  const answer = await keptOf(response)
  if (!answer) throw new Error('not kept')
  for (const one of [response, answerAgain(answer), answerAgain(answer)]) {
    expect([one.status, await one.json(), one.headers.getSetCookie()]).toEqual([
      201,
      { a: 1 },
      ['a=1', 'b=2'],
    ])
  }
  const empty = await keptOf(new Response(null, { status: 204 }))
  expect(empty && answerAgain(empty).status).toBe(204)
  const endless = new ReadableStream({ pull: () => new Promise(() => {}) })
  expect(await keptOf(new Response(endless))).toBeUndefined()
  const broken = new ReadableStream({ pull: () => Promise.reject(new Error('torn')) })
  expect(await keptOf(new Response(broken, { headers: { 'content-length': '5' } }))).toBeUndefined()
})

it('a purpose is that of method, path, query, terms and body, and leaves the body to be read', async () => {
  const request = (body: string, url = 'http://shop.test/') => new Request(url, { method: 'POST', body })
  const one = request('x'.repeat(100_000))
  const purpose = await purposeOf(one, ['1'])
  expect((await one.text()).length).toBe(100_000)
  expect(await purposeOf(request('x'.repeat(100_000)), ['1'])).toBe(purpose)
  for (const other of [
    purposeOf(request('y'), ['1']),
    purposeOf(request('x'.repeat(100_000)), ['2']),
    purposeOf(request('x'.repeat(100_000), 'http://shop.test/?a'), ['1']),
  ]) {
    expect(await other).not.toBe(purpose)
  }
})
