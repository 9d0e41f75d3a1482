import { expect, it } from 'vitest'
import { answerAgain, createAnswers, type Entry, keptOf, purposeOf } from './payment-identifier.ts'

const entry = (name: string, bytes?: number): Entry => ({
  key: name,
  fingerprint: '0x1',
  purpose: '0x2',
  until: 100,
  isUnderWay: false,
  release: async () => {},
  ...(bytes !== undefined && {
    answer: { status: 200, statusText: '', headers: [], body: new Uint8Array(bytes) },
  }),
})

it('answers are bounded in bytes and in number: the oldest go first', () => {
  const answers = createAnswers()
  for (let index = 0; index < 300; index++) answers.remember(entry(`a${index}`, 65_536))
  const kept = Array.from({ length: 300 }, (_, index) => answers.find(`a${index}`, 0)).filter(Boolean)
  expect(kept).toHaveLength(256)
  expect(answers.find('a299', 0)).toBeDefined()
  // What is remembered again is counted once.
  for (let index = 0; index < 300; index++) answers.remember(entry('a299', 65_536))
  expect(answers.find('a298', 0)).toBeDefined()

  for (let index = 0; index < 10_001; index++) answers.remember(entry(`b${index}`))
  expect([answers.find('b0', 0), answers.find('a299', 0)]).toEqual([undefined, undefined])
  expect(answers.find('b10000', 0)).toBeDefined()
})

it('an answer is forgotten when its time is over', () => {
  const answers = createAnswers()
  answers.remember(entry('a', 1))
  expect(answers.find('a', 99)).toBeDefined()
  expect(answers.find('a', 100)).toBeUndefined()
})

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
