import type { Sql } from '@referrer/database'
import { quantize } from '@referrer/search'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { COMMON, LOCAL } from './ids.ts'
import { countIntents, embedIntent } from './intents.ts'
import { type EmbeddingServer, endpointConfig, gate, startEmbeddingServer, vectorOf } from './testing.ts'

const NO_DATABASE = undefined as unknown as Sql
const MODEL = 'endpoint/small@4'
let server: EmbeddingServer
let context: Context

beforeAll(async () => {
  server = await startEmbeddingServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.asked = []
  server.respond = () => undefined
  context = testContext(NO_DATABASE, { config: endpointConfig(server.url) }).context
  // Time passes only when a test says so.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => vi.useRealTimers())

const embed = (intent: string, id = MODEL) => embedIntent(context, intent, id)
const inputs = () => server.asked.map(({ input }) => input)
const FAILURE = { status: 500, body: '' }

it('asks once for an intent, however it is written', async () => {
  const vector = await embed('weather in Europe')
  expect(vector).toEqual(quantize(vectorOf('weather in Europe')))
  expect(await embed('  weather\n\tin   Europe ')).toEqual(vector)
  expect(await embed('ｗeather in Europe')).toEqual(vector)
  expect(inputs()).toEqual([['weather in Europe']])
  expect(countIntents(context)).toEqual({ kept: 2, embedded: 1, late: 0, failed: 0, skipped: 0, unknown: 0 })
})

it('looks at the first thousand characters, and at nothing in a blank one', async () => {
  await embed(`${'😀'.repeat(1_000)}x`)
  expect(inputs()).toEqual([['😀'.repeat(1_000)]])
  expect(await embed(' \n ')).toBeUndefined()
  expect(server.asked).toHaveLength(1)
})

it('asks each model for its own', async () => {
  await embed('weather')
  await embed('weather', 'endpoint/before@4')
  expect(server.asked.map(({ model }) => model)).toEqual(['small', 'before'])
})

it('has none of a model that cannot be asked', async () => {
  expect(await embed('weather', 'local/older@0.1.0')).toBeUndefined()
  context = testContext(NO_DATABASE).context
  expect(await embed('weather')).toBeUndefined()
  expect(server.asked).toEqual([])
})

it('has the vector of word vectors at once, and zeros where too few words are known', async () => {
  const vector = await embed('car', COMMON.id)
  expect(vector).toHaveLength(COMMON.dims)
  expect(vector?.some((value) => value !== 0)).toBe(true)
  expect(await embed('qzxjv vwxyq car', COMMON.id)).toEqual(new Int8Array(COMMON.dims))
  expect(await embed('  ', COMMON.id)).toBeUndefined()
  expect(countIntents(context)).toMatchObject({ embedded: 1, unknown: 1, kept: 0, late: 0, failed: 0 })
})

it('does not ask the local model, which knows English only, in another language', async () => {
  expect(await embed('Rechnungen auslesen und verbuchen', LOCAL.id)).toEqual(new Int8Array(LOCAL.dims))
  expect(countIntents(context)).toMatchObject({ embedded: 0, unknown: 1, late: 0, failed: 0 })
})

it('does without word vectors that cannot be read, or not in time, and asks for them again', async () => {
  const broken = { ...context, sql: (() => Promise.reject(new Error('down'))) as unknown as Sql }
  expect(await embedIntent(broken, 'car', 'learned/1@4')).toBeUndefined()
  expect(countIntents(broken)).toMatchObject({ failed: 1, late: 0 })
  const silent = { ...context, sql: (() => new Promise(() => {})) as unknown as Sql }
  const asked = embedIntent(silent, 'car', 'learned/1@4')
  await vi.advanceTimersByTimeAsync(150)
  expect(await asked).toBeUndefined()
  expect(countIntents(silent)).toMatchObject({ failed: 0, late: 1 })
})

it('asks once for all who wait for the same', async () => {
  const held = gate()
  server.respond = () => held.passed
  const asked = [embed('weather'), embed('weather'), embed('weather ')]
  await expect.poll(() => server.asked.length).toBe(1)
  held.open()
  const [first, ...others] = await Promise.all(asked)
  expect(first).toEqual(quantize(vectorOf('weather')))
  expect(others).toEqual([first, first])
  expect(server.asked).toHaveLength(1)
})

it('does without an answer that is late, and has it for the next', async () => {
  const held = gate()
  server.respond = () => held.passed
  const asked = embed('weather')
  await expect.poll(() => server.asked.length).toBe(1)
  vi.advanceTimersByTime(150)
  expect(await asked).toBeUndefined()
  expect(countIntents(context)).toMatchObject({ late: 1, failed: 0 })
  const waiting = embed('weather')
  held.open()
  expect(await waiting).toEqual(quantize(vectorOf('weather')))
  expect(await embed('weather')).toEqual(quantize(vectorOf('weather')))
  expect(server.asked).toHaveLength(1)
})

it('does without an answer that fails, and asks again the next time', async () => {
  server.respond = () => FAILURE
  expect(await embed('weather')).toBeUndefined()
  expect(countIntents(context).failed).toBe(1)
  server.respond = () => undefined
  expect(await embed('weather')).toEqual(quantize(vectorOf('weather')))
})

it('asks no more for a while after failures in a row, then with one intent alone until that is answered', async () => {
  server.respond = () => FAILURE
  for (let at = 0; at < 5; at += 1) await embed(`intent ${at}`)
  for (let at = 5; at < 50; at += 1) expect(await embed(`intent ${at}`)).toBeUndefined()
  expect(server.asked).toHaveLength(5)
  expect(countIntents(context)).toMatchObject({ failed: 5, skipped: 45 })

  vi.advanceTimersByTime(1_000)
  const held = gate()
  server.respond = () => held.passed
  const alone = embed('alone')
  expect(await embed('another')).toBeUndefined()
  held.open()
  expect(await alone).toEqual(quantize(vectorOf('alone')))
  expect(await embed('another')).toEqual(quantize(vectorOf('another')))
  expect(inputs().slice(5)).toEqual([['alone'], ['another']])
})

it('takes answers that are late for failures, so that they do not pile up', async () => {
  server.respond = () => new Promise(() => {})
  for (let at = 0; at < 5; at += 1) {
    const asked = embed(`intent ${at}`)
    await expect.poll(() => server.asked.length).toBe(at + 1)
    vi.advanceTimersByTime(150)
    expect(await asked).toBeUndefined()
  }
  expect(await embed('one more')).toBeUndefined()
  expect(countIntents(context)).toMatchObject({ late: 5, skipped: 1 })
})

it('goes on asking where answers fail now and then', async () => {
  for (let at = 0; at < 20; at += 1) {
    server.respond = () => (at % 5 === 4 ? undefined : FAILURE)
    await embed(`intent ${at}`)
  }
  expect(server.asked).toHaveLength(20)
})
