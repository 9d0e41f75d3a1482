import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { log, nameOf, ReaderBench, upTo, values } from '../testing/reader-bench.ts'

let bench: ReaderBench

beforeEach(async () => {
  bench = await ReaderBench.start()
  bench.chain.mineMany(4)
  bench.chain.mine(...upTo(3).map(log))
})
afterEach(() => bench.close())

const NONSENSE: [string, unknown][] = [
  ['a word', 'block'],
  ['a number', 7],
  ['an empty object', {}],
  ['a list of what is none', ['log']],
  ['a list of nothing', [null]],
  ['fields of the wrong kind', [{ blockNumber: 'x', blockHash: 5, number: {}, hash: [] }]],
]

describe('a node that answers with nonsense', () => {
  it.each(NONSENSE)('such as %s instead of blocks is passed over', async (_, result) => {
    bench.first.answer = (call) =>
      call.method.startsWith('eth_getBlock') ? { result } : bench.chain.answer(call)
    const head = await bench.reader.head(undefined)
    expect(head.endpoint).toBe(bench.endpointOf(bench.second))
    expect(bench.preferred()).toBe(nameOf(bench.second))
  })

  it.each(NONSENSE)('such as %s instead of logs is passed over', async (_, result) => {
    bench.first.answer = (call) => (call.method === 'eth_getLogs' ? { result } : bench.chain.answer(call))
    expect(values((await bench.range(0n, 5n)).logs)).toEqual([0, 1, 2])
    expect(bench.preferred()).toBe(nameOf(bench.second))
  })

  it('for the proof of its head is not believed', async () => {
    bench.first.answer = (call) =>
      call.method === 'eth_getBlockByHash' ? { result: { number: 'x' } } : bench.chain.answer(call)
    expect((await bench.reader.head(undefined)).endpoint).toBe(bench.endpointOf(bench.second))
  })
})
