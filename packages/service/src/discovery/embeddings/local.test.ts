import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LOCAL } from './ids.ts'
import { createLocal, type LocalEmbedder, type Thread } from './local.ts'
import type { Answered, Asked } from './local-thread.ts'

/** A thread that answers when told to. Every number of a vector is the code of the text's first character. */
class ScriptedThread extends EventEmitter {
  readonly asked: Asked[] = []
  isReferenced = true
  postMessage(question: Asked): void {
    this.asked.push(question)
  }
  ref(): void {
    this.isReferenced = true
  }
  unref(): void {
    this.isReferenced = false
  }
  async terminate(): Promise<number> {
    this.emit('exit', 1)
    return 1
  }
  answer(): void {
    const { id, texts } = this.asked.at(-1) as Asked
    const vectors = new Int8Array(texts.length * LOCAL.dims)
    for (const [at, text] of texts.entries())
      vectors.fill(text.charCodeAt(0), at * LOCAL.dims, (at + 1) * LOCAL.dims)
    this.emit('message', { id, vectors } satisfies Answered)
  }
  fail(): void {
    this.emit('message', { id: this.asked.at(-1)?.id ?? 0, error: 'odd' } satisfies Answered)
  }
}

const threads: ScriptedThread[] = []
let local: LocalEmbedder

function create(): LocalEmbedder {
  threads.length = 0
  local = createLocal({
    spawn: () => {
      const thread = new ScriptedThread()
      threads.push(thread)
      return thread as unknown as Thread
    },
    random: () => 1,
  })
  return local
}
afterEach(async () => {
  vi.useRealTimers()
  await local.close()
})

const thread = () => threads.at(-1) as ScriptedThread
const asked = () => thread().asked.map(({ texts }) => texts)
const letters = (vectors: Int8Array[]) => vectors.map(([code]) => String.fromCharCode(code ?? 0)).join('')
const outcome = (work: Promise<Int8Array[]>) =>
  work.then(letters, (error: Error) => `${error.message} ${(error as { again?: string }).again}`)
const settled = () => new Promise((resolve) => setImmediate(resolve))

it('starts its thread with the first text, and lets the process end when there is nothing to do', async () => {
  create()
  expect(threads).toHaveLength(0)
  const embedded = local.embed(['a'])
  expect(threads).toHaveLength(1)
  expect(thread().isReferenced).toBe(true)
  thread().answer()
  expect(letters(await embedded)).toBe('a')
  expect(thread().isReferenced).toBe(false)
})

it('starts it before when it is told to', () => {
  create().warm()
  local.warm()
  expect(threads).toHaveLength(1)
})

it('reads words, not how they are set', async () => {
  const embedded = create().embed([' a\n\n b ', 'c'.repeat(5_000)])
  thread().answer()
  thread().answer()
  await embedded
  expect(asked()).toEqual([['a b'], ['c'.repeat(1_000)]])
})

describe('what waits', () => {
  it('goes out intents first, those together, and texts in parts that are soon done', async () => {
    create()
    const texts = outcome(local.embed([...'abcdefghij', `k${'x'.repeat(600)}`, `l${'x'.repeat(600)}`]))
    const intents = ['I', 'J', 'K'].map((text) => outcome(local.embed([text], 'intents')))
    const order: number[] = []
    for (let left = 5; left > 0; left -= 1) {
      order.push(thread().asked.at(-1)?.texts.length ?? 0)
      thread().answer()
    }
    expect(order).toEqual([8, 3, 3, 1, 1])
    expect(await texts).toBe('abcdefghijkl')
    expect(await Promise.all(intents)).toEqual(['I', 'J', 'K'])
  })

  it('lets a text through when intents keep coming', async () => {
    create()
    const first = outcome(local.embed(['I'], 'intents'))
    const text = outcome(local.embed(['a']))
    const intents = [first]
    while (!asked().some((texts) => texts.includes('a'))) {
      intents.push(outcome(local.embed(['I'], 'intents')))
      thread().answer()
      expect(thread().asked.length).toBeLessThan(10)
    }
    thread().answer()
    expect(await text).toBe('a')
  })

  it('is no more intents than can be answered: the newest are refused', async () => {
    create()
    const intents = Array.from({ length: 18 }, () => outcome(local.embed(['I'], 'intents')))
    expect(await intents.at(-1)).toBe('too many intents wait for the model soon')
    for (let left = 3; left > 0; left -= 1) thread().answer()
    expect(await Promise.all(intents.slice(0, -1))).toEqual(Array(17).fill('I'))
  })
})

it('fails with what the model fails at, and goes on', async () => {
  create()
  const failing = outcome(local.embed(['a']))
  thread().fail()
  expect(await failing).toBe('the model failed: odd apart')
  const next = outcome(local.embed(['b']))
  thread().answer()
  expect(await next).toBe('b')
  expect(threads).toHaveLength(1)
})

describe('a thread that dies', () => {
  it('takes along what it was at; the rest waits for another, each time longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    create()
    const dying = outcome(local.embed(['a']))
    const waiting = outcome(local.embed(['b']))
    thread().emit('error', new Error('out of memory'))
    thread().emit('exit', 1)
    expect(await dying).toBe('the thread of the model ended apart')
    expect(threads).toHaveLength(1)
    vi.advanceTimersByTime(199)
    expect(threads).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(threads).toHaveLength(2)
    thread().emit('exit', 1)
    expect(await waiting).toBe('the thread of the model ended apart')
    const next = outcome(local.embed(['c']))
    vi.advanceTimersByTime(399)
    expect(threads).toHaveLength(2)
    vi.advanceTimersByTime(1)
    thread().answer()
    expect(await next).toBe('c')
    expect(threads).toHaveLength(3)
  })

  it('is one that does not answer at all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    create()
    const dying = outcome(local.embed(['a']))
    vi.advanceTimersByTime(60_000)
    expect(await dying).toBe('the thread of the model ended apart')
  })
})

it('fails at once when the service stops', async () => {
  create()
  const work = ['a', 'b'].map((text) => outcome(local.embed([text])))
  await local.close()
  await settled()
  expect(await Promise.all([...work, outcome(local.embed(['c']))])).toEqual(
    Array(3).fill('the service stops later'),
  )
})

describe('a model that is not needed for a while', () => {
  it('has no thread, and starts one when it is asked again', async () => {
    const model = create()
    const first = model.embed(['a'])
    thread().answer()
    await first
    const ended = vi.fn()
    thread().on('exit', ended)
    model.rest()
    expect(ended).toHaveBeenCalledOnce()
    const second = model.embed(['b'])
    expect(threads).toHaveLength(2)
    thread().answer()
    expect(letters(await second)).toBe('b')
  })

  it('finishes first what it was asked', async () => {
    const model = create()
    const asked = model.embed(['a'])
    model.rest()
    thread().answer()
    expect(letters(await asked)).toBe('a')
    expect(threads).toHaveLength(1)
  })
})
