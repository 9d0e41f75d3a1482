import { quantize } from '@referrer/search'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EmbedderConfig } from '../../kit/config.ts'
import type { Embedder, EmbeddingFailed } from './embedder.ts'
import { createEndpoint } from './endpoint.ts'
import { endpointId, readEndpointId } from './ids.ts'
import {
  DIMS,
  type EmbeddingServer,
  endpointConfig,
  gate,
  startEmbeddingServer,
  vectorOf,
} from './testing.ts'

type EndpointConfig = Extract<EmbedderConfig, { kind: 'endpoint' }>

let server: EmbeddingServer
let settings: EndpointConfig
let endpoint: Embedder

beforeAll(async () => {
  server = await startEmbeddingServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.asked = []
  server.respond = () => undefined
  settings = endpointConfig(server.url).embedder as EndpointConfig
  endpoint = createEndpoint(settings, fetch)
})

const failure = (work: Promise<unknown>): Promise<EmbeddingFailed> =>
  work.then(
    () => Promise.reject(new Error('it went through')),
    (error) => error,
  )
const vectors = (...texts: string[]) => texts.map((text) => quantize(vectorOf(text)))
const answer = (...data: unknown[]) => ({ body: JSON.stringify({ data }) })

it('asks for the model with the key, and answers in the order of the texts', async () => {
  server.respond = ({ input }) =>
    answer(...input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse())
  expect(await endpoint.embed(['one', 'and two', 'three'])).toEqual(vectors('one', 'and two', 'three'))
  expect(server.asked).toEqual([
    { model: 'small', input: ['one', 'and two', 'three'], authorization: 'Bearer sk-hidden' },
  ])
})

it('sends no authorization where there is no key', async () => {
  await createEndpoint({ ...settings, key: undefined }, fetch).embed(['one'])
  expect(server.asked[0]?.authorization).toBeUndefined()
})

it('does not ask for blank texts', async () => {
  expect(await endpoint.embed(['', 'one', ' \n'])).toEqual([
    new Int8Array(DIMS),
    ...vectors('one'),
    new Int8Array(DIMS),
  ])
  expect(await endpoint.embed([' '])).toEqual([new Int8Array(DIMS)])
  expect(server.asked.map(({ input }) => input)).toEqual([['one']])
})

describe('many texts', () => {
  it('go 64 at a time', async () => {
    const texts = Array.from({ length: 130 }, (_, at) => `text ${at}`)
    expect(await endpoint.embed(texts)).toEqual(vectors(...texts))
    expect(server.asked.map(({ input }) => input.length)).toEqual([64, 64, 2])
  })

  it('go fewer at a time when they are long, each cut where no character is', async () => {
    const texts = Array.from({ length: 10 }, () => '😀'.repeat(5_000))
    await endpoint.embed(texts)
    expect(server.asked.length).toBeGreaterThan(1)
    for (const { input } of server.asked) {
      expect(Buffer.byteLength(JSON.stringify(input))).toBeLessThanOrEqual(100_100)
      for (const text of input) expect(text).toBe('😀'.repeat(4_000))
    }
  })

  it('go fewer at a time when their vectors are long', () => {
    expect(createEndpoint({ ...settings, dims: 1_536 }, fetch).atOnce).toBe(21)
    expect(createEndpoint({ ...settings, dims: 100_000 }, fetch).atOnce).toBe(1)
  })
})

describe('intents', () => {
  it('that come while all calls are under way go out together', async () => {
    const held = gate()
    server.respond = () => held.passed
    const first: Promise<unknown>[] = []
    for (let at = 0; at < 8; at += 1) {
      first.push(endpoint.embed([`first ${at}`], 'intents'))
      await expect.poll(() => server.asked.length).toBe(at + 1)
    }
    const rest = ['a', 'b', 'c'].map((text) => endpoint.embed([text], 'intents'))
    await new Promise((resolve) => setImmediate(resolve))
    held.open()
    await Promise.all(first)
    expect(await Promise.all(rest)).toEqual([vectors('a'), vectors('b'), vectors('c')])
    expect(server.asked.slice(8).map(({ input }) => input)).toEqual([['a', 'b', 'c']])
  })
})

describe('an answer', () => {
  const embedding = vectorOf('one')
  it.each([
    ['is no JSON', { body: '<html>' }],
    ['is null', { body: 'null' }],
    ['has no vectors', { body: '{}' }],
    ['lacks one', answer({ index: 0, embedding })],
    ['has one too many', answer(...[0, 1, 2].map((index) => ({ index, embedding })))],
    ['has one twice', answer({ index: 0, embedding }, { index: 0, embedding })],
    ['numbers them from 1', answer({ index: 1, embedding }, { index: 2, embedding })],
    ['does not number them', answer({ embedding }, { embedding })],
    ['has a null in place of a vector', answer({ index: 0, embedding }, null)],
    [
      'has something else than numbers',
      answer({ index: 0, embedding }, { index: 1, embedding: [1, 2, 3, null] }),
    ],
    [
      'has a number that is not finite',
      { body: `{"data":[{"index":0,"embedding":[1,2,3,4]},{"index":1,"embedding":[1,2,3,1e999]}]}` },
    ],
    [
      'is longer than vectors are',
      { body: ' '.repeat(70_000) + answer({ index: 0, embedding }, { index: 1, embedding }).body },
    ],
  ])('that %s is none, and the texts are tried apart', async (_what, given) => {
    server.respond = () => given
    const error = await failure(endpoint.embed(['one', 'two']))
    expect(error).toMatchObject({ name: 'EmbeddingFailed', again: 'apart' })
    expect(error.message).toBe(`${new URL(server.url).host} answered with something else than vectors`)
  })

  it('with vectors of another length says which setting is wrong, and is no fault of a text', async () => {
    server.respond = () => answer({ index: 0, embedding: [1, 2, 3] })
    const error = await failure(endpoint.embed(['one']))
    expect(error.again).toBe('later')
    expect(error.message).toContain('vectors of 3 numbers: set EMBEDDINGS_DIMENSIONS to that')
  })
})

describe('a refusal', () => {
  it.each([
    [400, 'apart', ''],
    [413, 'apart', ''],
    [422, 'apart', ''],
    [500, 'apart', ''],
    [401, 'later', ': check EMBEDDINGS_KEY'],
    [403, 'later', ': check EMBEDDINGS_KEY'],
    [404, 'later', ': check EMBEDDINGS_URL and EMBEDDINGS_MODEL'],
    [429, 'later', ''],
    [503, 'later', ''],
  ])('with %s is tried %s, and says nothing of the key', async (status, again, advice) => {
    server.respond = () => ({ status, body: '{"error":"wrong key sk-hidden"}' })
    const error = await failure(endpoint.embed(['one', 'two']))
    expect(error.again).toBe(again)
    expect(error.message).toBe(`${new URL(server.url).host} answered ${status} for small${advice}`)
    expect(JSON.stringify([error, error.cause, error.stack])).not.toContain('sk-hidden')
  })

  it('tells how long to wait when the endpoint does', async () => {
    server.respond = () => ({ status: 429, headers: { 'retry-after': '7' }, body: '' })
    expect(await failure(endpoint.embed(['one']))).toMatchObject({ again: 'later', retryAfterMs: 7_000 })
    server.respond = () => ({ status: 429, headers: { 'retry-after': 'tomorrow' }, body: '' })
    expect((await failure(endpoint.embed(['one']))).retryAfterMs).toBeUndefined()
  })

  it('that sends elsewhere is not followed: the key is for one host', async () => {
    server.respond = () => ({ status: 307, headers: { location: `${server.url}/embeddings` }, body: '' })
    expect(await failure(endpoint.embed(['one']))).toMatchObject({ again: 'later' })
    expect(server.asked).toHaveLength(1)
  })
})

it('that nobody answers at is asked later', async () => {
  const error = await failure(
    createEndpoint({ ...settings, url: 'http://127.0.0.1:1/v1' }, fetch).embed(['one']),
  )
  expect(error).toMatchObject({ again: 'later', message: '127.0.0.1:1 cannot be reached' })
})

it('that takes too long is given up on', async () => {
  const signals: AbortSignal[] = []
  const slow: typeof fetch = (_url, init) => {
    signals.push(init?.signal as AbortSignal)
    return Promise.reject(new DOMException('late', 'TimeoutError'))
  }
  const error = await failure(createEndpoint(settings, slow).embed(['one']))
  expect(error).toMatchObject({
    again: 'later',
    message: `${new URL(server.url).host} did not answer in time`,
  })
  expect(signals[0]).toBeInstanceOf(AbortSignal)
})

it('has an id that tells model and dimensions, whatever the model is called', () => {
  for (const model of ['small', 'org/model@v2', 'a@3'])
    expect(readEndpointId(endpointId({ model, dims: 12 }))).toEqual({ model, dims: 12 })
  expect(readEndpointId('local/model@1')).toBeUndefined()
})
