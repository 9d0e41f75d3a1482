// A process that dies between any two steps of a sale. `crash.long.test.ts` kills real ones at the same points.
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaymentMemory, type PaymentStore } from '../src/index.ts'
import { fileStore } from '../src/node.ts'
import { alreadyUsed, bodyOf, pay, retry, settledBy, shopOf, startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

const folder = mkdtempSync(join(tmpdir(), 'payments-'))
let files = 0
const newFile = () => join(folder, `${files++}.log`)

function tableStore(): PaymentStore {
  const rows = new Map<string, string>()
  return {
    read: async (key) => rows.get(key),
    async replace(key, before, next) {
      if (rows.get(key) !== before) return false
      if (next === undefined) rows.delete(key)
      else rows.set(key, next)
      return true
    },
  }
}

/** Each opens the store as a process does that starts. */
const stores = {
  file() {
    const path = newFile()
    return () => fileStore(path)
  },
  shared() {
    const table = tableStore()
    return () => table
  },
  memory() {
    return () => undefined
  },
}

/** The steps of a sale, in their order. `claim`, `paid` and `served` are writes of the record. */
const STEPS = [
  'before claim',
  'after claim',
  'before settling',
  'after settling',
  'before paid',
  'after paid',
  'in serve',
  'before served',
  'after served',
] as const
type Step = (typeof STEPS)[number]

interface Process {
  shop: ReturnType<typeof shopOf>
  /** Resolves when it has died. */
  dead: Promise<void>
}

/** A process that stops for ever at the step, or at none, and what it has served. */
function startProcess(
  store: PaymentStore | undefined,
  { dies, aheadSeconds = 0, served }: { dies?: Step; aheadSeconds?: number; served: string[] },
): Process {
  const death = Promise.withResolvers<void>()
  let isDead = false
  const reach = async (step: Step) => {
    if (step !== dies && !isDead) return
    isDead = true
    death.resolve()
    await new Promise(() => {})
  }
  const watched: PaymentStore | undefined = store && {
    async read(key) {
      if (isDead) await reach('in serve')
      return store.read(key)
    },
    async replace(key, before, next, until) {
      const { state, sale } = JSON.parse(next ?? '{"state":"claimed"}')
      const write =
        state === 'claimed' || (sale && before?.includes('"sale"') && state === 'paid') ? 'claim' : state
      await reach(`before ${write}` as Step)
      const isDone = await store.replace(key, before, next, until)
      await reach(`after ${write}` as Step)
      return isDone
    },
  }
  const shop = shopOf(world, {
    payments: createPaymentMemory(watched && { store: watched }),
    now: () => Date.now() + aheadSeconds * 1_000,
    async fetch(input, init) {
      const isSettling = String(input).endsWith('/settle')
      if (isSettling) await reach('before settling')
      const response = await fetch(input, init)
      if (isSettling) await reach('after settling')
      return response
    },
    async serve(_request, { id }) {
      served.push(id)
      await reach('in serve')
      return { goods: 'a joke' }
    },
  })
  return { shop, dead: death.promise }
}

/** A payment, at a facilitator that has it split once, and says so afterwards. */
async function paying() {
  const payment = await pay(world)
  let transaction: string | undefined
  world.facilitator.says(async (asked) => {
    if (transaction) return alreadyUsed(transaction)
    transaction = await payment.settleOnChain()
    return settledBy(transaction)(asked)
  })
  return { payment, transaction: () => transaction }
}

async function send({ shop }: Process, payment: { header: string }) {
  const response = await shop.fetch(retry(payment))
  const { goods, transaction } = await bodyOf(response)
  return { status: response.status, goods, transaction, retryAfter: response.headers.get('retry-after') }
}

describe.each(['file', 'shared'] as const)('with a %s store', (kind) => {
  it.each(STEPS)('whoever asks again after a crash %s gets what it paid for', async (dies) => {
    const open = stores[kind]()
    const served: string[] = []
    const { payment, transaction } = await paying()
    const first = startProcess(open(), { dies, served })
    void first.shop.fetch(retry(payment))
    await first.dead

    const next = startProcess(open(), { served })
    if (dies !== 'before claim' && dies !== 'after served') {
      // It may still live: another process waits until it has not renewed its claim for a minute.
      const early = await send(next, payment)
      expect(early).toMatchObject({ status: 409, goods: undefined })
      expect(Number(early.retryAfter)).toBeGreaterThan(50)
    }
    const later = startProcess(open(), { served, aheadSeconds: 61 })
    const last = startProcess(open(), { served, aheadSeconds: 122 })
    if (dies === 'after served') {
      expect(await send(later, payment)).toMatchObject({ status: 409, transaction: transaction() })
      expect(served).toHaveLength(1)
      return
    }
    expect(await send(later, payment)).toMatchObject({
      status: 200,
      goods: 'a joke',
      transaction: transaction(),
    })
    expect(served).toHaveLength(['in serve', 'before served'].includes(dies) ? 2 : 1)
    expect(new Set(served).size).toBe(1)
    for (const process of kind === 'file' ? [later] : [later, last]) {
      expect(await send(process, payment)).toMatchObject({ status: 409, transaction: transaction() })
    }
    expect(world.facilitator.settlements().length).toBeLessThan(3)
  })

  it('a payment is not served again while its process lives and serves, however long that takes', async () => {
    const store = stores[kind]()()
    const end = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    let served = 0
    const slow = shopOf(world, {
      payments: createPaymentMemory({ ...(store && { store }), leaseSeconds: 1 }),
      async serve() {
        served += 1
        begun.resolve()
        await end.promise
        return {}
      },
    })
    const renewals: string[] = []
    const replace = store?.replace
    if (store && replace) {
      store.replace = (key, before, next, until) => {
        if (next) renewals.push(next)
        return replace(key, before, next, until)
      }
    }
    const { payment } = await paying()
    const first = slow.fetch(retry(payment))
    await begun.promise
    await expect.poll(() => renewals.length, { timeout: 10_000 }).toBeGreaterThan(7)
    const other = shopOf(world, { payments: createPaymentMemory(store && { store }) })
    expect((await other.fetch(retry(payment))).status).toBe(409)
    end.resolve()
    expect((await first).status).toBe(200)
    expect(served).toBe(1)
  })

  it('a write whose answer is lost is known for its own', async () => {
    const store = stores[kind]()()
    if (!store) throw new Error('no store')
    let losses = 1
    const payments = createPaymentMemory({
      store: {
        ...store,
        async replace(key, before, next, until) {
          const isDone = await store.replace(key, before, next, until)
          if (next?.includes('"paid"') && losses-- > 0) throw new Error('the connection broke')
          return isDone
        },
      },
    })
    const { payment } = await paying()
    const shop = shopOf(world, { payments })
    expect((await shop.fetch(retry(payment))).status).toBe(503)
    expect((await shop.fetch(retry(payment))).status).toBe(200)
  })

  it('a payment is not served where it cannot be recorded that it was paid, and served when it can', async () => {
    const store = stores[kind]()()
    if (!store) throw new Error('no store')
    let failures = 1
    let served = 0
    const serve = () => ({ served: ++served })
    const payments = createPaymentMemory({
      store: {
        ...store,
        replace: (key, before, next, until) =>
          next?.includes('"paid"') && failures-- > 0
            ? Promise.reject(new Error('full'))
            : store.replace(key, before, next, until),
      },
    })
    const { payment } = await paying()
    const shop = shopOf(world, { payments, serve })
    expect((await shop.fetch(retry(payment))).status).toBe(503)
    expect([served, shop.events.at(-1)?.type]).toEqual([0, 'claims_failed'])
    expect((await shop.fetch(retry(payment))).status).toBe(200)
    expect(served).toBe(1)
  })
})

describe('with the memory of the process alone', () => {
  it.each([
    ['before settling', 200, 1],
    ['after settling', 409, 0],
    ['in serve', 409, 1],
  ] as const)(
    'who asks again after a crash %s gets %i: nobody knows whether it was served',
    async (dies, status, times) => {
      const served: string[] = []
      const { payment, transaction } = await paying()
      const first = startProcess(undefined, { dies, served })
      void first.shop.fetch(retry(payment))
      await first.dead
      const answer = await send(startProcess(undefined, { served, aheadSeconds: 3_600 }), payment)
      expect(answer).toMatchObject({ status, transaction: transaction() })
      expect(served).toHaveLength(times)
    },
  )
})

describe('the file', () => {
  it('leaves out what is over, and a line that a crash cut off', async () => {
    const path = newFile()
    const soon = Math.floor(Date.now() / 1_000) + 3_600
    const one = fileStore(path)
    expect(await one.replace('a', undefined, 'A', soon)).toBe(true)
    expect(await one.replace('a', undefined, 'B', soon)).toBe(false)
    expect(await one.replace('a', 'A', 'B', soon)).toBe(true)
    await one.replace('over', undefined, 'C', 1)
    await one.replace('gone', undefined, 'D', soon)
    await one.replace('gone', 'D', undefined, soon)
    appendFileSync(path, '\n["a","cut o')
    const next = fileStore(path)
    expect([await next.read('a'), await next.read('over'), await next.read('gone')]).toEqual([
      'B',
      undefined,
      undefined,
    ])
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(await next.replace('a', 'B', 'E', soon)).toBe(true)
    expect(await fileStore(path).read('a')).toBe('E')
  })

  it('is written by one process: an older one is refused, and says what to do', async () => {
    const path = newFile()
    const soon = Math.floor(Date.now() / 1_000) + 3_600
    const one = fileStore(path)
    await one.replace('a', undefined, 'A', soon)
    const other = fileStore(path)
    expect(await other.read('a')).toBe('A')
    await expect(one.replace('a', 'A', 'B', soon)).rejects.toThrow(
      /another process: give processes .* a shared store/,
    )
    expect(await other.replace('a', 'A', 'C', soon)).toBe(true)
    writeFileSync(path, '')
    await expect(other.replace('a', 'C', 'D', soon)).rejects.toThrow(/another process/)
  })

  it('records the whole of a line or nothing: a disk that has room for half of one is an error, and spoils nothing', async () => {
    const path = newFile()
    const module = JSON.stringify(new URL('../src/file-store.ts', import.meta.url))
    const program = `
      const { fileStore } = await import(${module})
      const store = fileStore(${JSON.stringify(path)})
      const kept = {}
      const write = async (key, text) => {
        try {
          if (await store.replace(key, undefined, text, 4e9)) kept[key] = text.length
          return true
        } catch ({ code }) {
          if ((await store.read(key)) !== undefined) throw new Error('read what was not written')
          console.error(code)
          return false
        }
      }
      let number = 0
      while (await write('long' + number, 'x'.repeat(900))) number += 1
      await write('short', 'y')
      await write('again', 'z'.repeat(900))
      console.log(JSON.stringify(kept))`
    // As a full disk does, the limit takes a part of the line that crosses it.
    const child = [
      '-c',
      'ulimit -f 8; exec "$@"',
      'bash',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ]
    const { stdout, stderr } = spawnSync('bash', child, { encoding: 'utf8' })
    expect(stderr.match(/EFBIG/g)).toHaveLength(2)
    const kept = Object.entries(JSON.parse(stdout) as Record<string, number>)
    expect(kept.map(([key]) => key)).toEqual([...Array.from({ length: 8 }, (_, at) => `long${at}`), 'short'])
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line)[0])).toEqual(kept.map(([key]) => key))
    const next = fileStore(path)
    for (const [key, length] of kept) expect((await next.read(key))?.length).toBe(length)
  })

  it('goes on where there is no room for a second one, which leaves out what is over', async () => {
    const path = newFile()
    const soon = Math.floor(Date.now() / 1_000) + 3_600
    const store = fileStore(path)
    const text = 'x'.repeat(1_048_576)
    await store.replace('kept', undefined, 'A', soon)
    symlinkSync('/dev/full', `${path}.new`)
    let before: string | undefined
    for (let number = 0; number < 40; number++) {
      const next = `${number}${text}`
      expect(await store.replace('changed', before, next, soon)).toBe(true)
      before = next
      if (number === 20) expect(existsSync(`${path}.new`)).toBe(false)
    }
    expect(statSync(path).size).toBeLessThan(16 * 1_048_576)
    const reopened = fileStore(path)
    expect([await reopened.read('kept'), await reopened.read('changed')]).toEqual(['A', before])
  })
})
