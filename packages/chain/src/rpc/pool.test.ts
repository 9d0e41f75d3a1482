import { numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.ts'
import { createRpcPool, type RpcPool } from './pool.ts'

const CHAIN = 31_338
const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 30_000

let nodes: ScriptedNode[]
let pool: RpcPool
let clock: number

beforeEach(async () => {
  clock = 1_000_000
  nodes = await Promise.all(
    ['first', 'second', 'third'].map((name) =>
      startScriptedNode(({ method }) => ({ result: method === 'eth_chainId' ? numberToHex(CHAIN) : name })),
    ),
  )
  pool = createRpcPool({ chainId: CHAIN, urls: nodes.map(({ url }) => url), now: () => clock })
})
afterEach(() => Promise.all(nodes.map((node) => node.close())))

function at<T>(list: readonly T[], index: number): T {
  const found = list[index]
  if (found === undefined) throw new Error(`there is no number ${index}`)
  return found
}
const ask = () => pool.request<string>('who', [])
const order = () => pool.ranked().map((endpoint) => pool.endpoints.indexOf(endpoint))
const asked = () => nodes.map(({ requests }) => requests.filter(([call]) => call?.method === 'who').length)
const fail = (index: number) => {
  at(nodes, index).respond = () => ({ status: 500, body: 'broken' })
}
const mend = (index: number) => {
  at(nodes, index).respond = () => undefined
}
const refuse = (code: number) => () => ({ error: { code, message: 'no' } })

describe('a pool', () => {
  it('asks the first node while it works', async () => {
    expect([await ask(), await ask(), await ask()]).toEqual(['first', 'first', 'first'])
    expect(asked()).toEqual([3, 0, 0])
  })

  it('needs a URL', () => {
    expect(() => createRpcPool({ chainId: CHAIN, urls: [] })).toThrow(
      `chain ${CHAIN} needs at least one RPC URL`,
    )
  })

  it('asks the next node when one fails, and lets the failed one rest', async () => {
    fail(0)
    expect(await ask()).toBe('second')
    expect(order()).toEqual([1, 2, 0])
    expect(pool.available()).toEqual([pool.endpoints[1], pool.endpoints[2]])
    mend(0)
    expect(await ask()).toBe('second')
  })

  it('gives a node that serves another chain no second thought and goes on with the others', async () => {
    at(nodes, 0).answer = () => ({ result: '0x1' })
    expect(await ask()).toBe('second')
    expect(order()).toEqual([1, 2, 0])
  })

  it('asks elsewhere what one node refuses, without resting it', async () => {
    const { answer } = at(nodes, 0)
    at(nodes, 0).answer = (call) => (call.method === 'who' ? refuse(-32601)() : answer(call))
    expect(await ask()).toBe('second')
    expect(order()).toEqual([0, 1, 2])
  })

  it('asks nobody else what the EVM reverted', async () => {
    await ask()
    at(nodes, 0).answer = refuse(3)
    await expect(ask()).rejects.toMatchObject({ kind: 'reverted' })
    expect(asked()).toEqual([2, 0, 0])
    expect(order()).toEqual([0, 1, 2])
  })

  it('throws the last error when all fail', async () => {
    for (const index of [0, 1, 2]) fail(index)
    const last = new URL(at(nodes, 2).url).host
    await expect(ask()).rejects.toThrow(`${last} answered`)
    expect(pool.available()).toHaveLength(1)
  })

  it('tells how its nodes are: whether they rest, and what became of the calls to each', async () => {
    await ask()
    fail(0)
    await ask()
    pool.backOff(at(pool.endpoints, 1))
    const [first, second, third] = pool.health()
    expect(first).toMatchObject({ isUsable: false, outcomes: { answered: 1, transport: 1, reported: 0 } })
    expect(second).toMatchObject({ isUsable: false, outcomes: { answered: 1, transport: 0, reported: 1 } })
    expect(third).toMatchObject({ name: new URL(at(nodes, 2).url).host, isUsable: true })
    clock += LONGEST_BACKOFF_MS
    expect(pool.health().every(({ isUsable }) => isUsable)).toBe(true)
  })

  it('neither asks on nor rests anybody when the caller gives up', async () => {
    await ask()
    at(nodes, 0).respond = () => 'silence'
    const leaving = new AbortController()
    const call = pool.request('who', [], { signal: leaving.signal })
    await eventually(asked).toEqual([2, 0, 0])
    leaving.abort('going home')
    await expect(call).rejects.toBe('going home')
    expect(asked()).toEqual([2, 0, 0])
    expect(pool.available()).toHaveLength(3)
  })
})

describe('a rest', () => {
  /** How long the first node rests now, by the clock that the test sets. */
  function restOfFirst(): number {
    const start = clock
    const isAvailable = () => order()[0] === 0 && pool.available().includes(at(pool.endpoints, 0))
    let [least, most] = [0, 2 * LONGEST_BACKOFF_MS]
    while (least < most) {
      const middle = Math.floor((least + most) / 2)
      clock = start + middle
      if (isAvailable()) most = middle
      else least = middle + 1
    }
    clock = start
    return least
  }

  it('doubles with every failure up to its bound, and starts anew after a success', async () => {
    fail(0)
    const rests: number[] = []
    for (let failures = 0; failures < 9; failures += 1) {
      await ask()
      rests.push(restOfFirst())
      clock += restOfFirst()
    }
    expect(rests).toEqual([
      250,
      500,
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      LONGEST_BACKOFF_MS,
      LONGEST_BACKOFF_MS,
    ])
    mend(0)
    expect(await ask()).toBe('first')
    fail(0)
    await ask()
    expect(restOfFirst()).toBe(FIRST_BACKOFF_MS)
  })

  it('is as long as a node that limits the rate asks for, within the same bound', async () => {
    at(nodes, 0).respond = () => ({ status: 429, headers: { 'retry-after': '7' }, body: '' })
    expect(await ask()).toBe('second')
    expect(restOfFirst()).toBe(7_000)
    clock += 7_000
    at(nodes, 0).respond = () => ({ status: 429, headers: { 'retry-after': '86400' }, body: '' })
    await ask()
    expect(restOfFirst()).toBe(LONGEST_BACKOFF_MS)
  })

  it('can be ordered by who sees more than one answer', async () => {
    pool.backOff(at(pool.endpoints, 0))
    expect(order()).toEqual([1, 2, 0])
    expect(restOfFirst()).toBe(FIRST_BACKOFF_MS)
    expect(await ask()).toBe('second')
  })

  it('so ordered doubles each time although the node answers, until nobody has doubted it for long', async () => {
    const rests: number[] = []
    for (let doubts = 0; doubts < 9; doubts += 1) {
      pool.backOff(at(pool.endpoints, 0))
      rests.push(restOfFirst())
      clock += restOfFirst()
      expect(await ask()).toBe('first')
    }
    expect(rests).toEqual([
      250,
      500,
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      LONGEST_BACKOFF_MS,
      LONGEST_BACKOFF_MS,
    ])
    clock += 10 * LONGEST_BACKOFF_MS + 1
    pool.backOff(at(pool.endpoints, 0))
    expect(restOfFirst()).toBe(FIRST_BACKOFF_MS)
  })

  it('ranks those who rest by how soon they come back', async () => {
    for (const _ of [1, 2, 3]) pool.backOff(at(pool.endpoints, 0))
    for (const _ of [1, 2]) pool.backOff(at(pool.endpoints, 1))
    pool.backOff(at(pool.endpoints, 2))
    expect(order()).toEqual([2, 1, 0])
    expect(pool.available()).toEqual([pool.endpoints[2]])
    expect(await ask()).toBe('third')
  })
})
