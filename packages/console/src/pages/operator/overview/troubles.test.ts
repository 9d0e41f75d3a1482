import { describe, expect, it } from 'vitest'
import { troublesOf } from './troubles.ts'

const well = {
  workers: [{ name: 'oracle', state: 'running', restarts: 0 }],
  chains: [{ chain_id: 8453, head: 10, indexed: 10, lag_seconds: 2, detail: '' }],
  keys: [{ role: 'oracle' as const, chain_id: 8453, address: '0xA1', balance_wei: '1', is_low: false }],
  outbox: { waiting: 0, oldest_seconds: null },
  embeddings_waiting: 0,
}

describe('what is wrong with a market', () => {
  it('is nothing while all is well', () => {
    expect(troublesOf(well)).toEqual([])
  })

  it.each([
    [{ workers: [{ name: 'oracle', state: 'failed', restarts: 3 }] }, /worker oracle is failed/],
    [
      { chains: [{ chain_id: 8453, head: null, indexed: 1, lag_seconds: null, detail: '' }] },
      /does not answer/,
    ],
    [{ chains: [{ chain_id: 8453, head: 9, indexed: 1, lag_seconds: 500, detail: '' }] }, /500 s late/],
    [{ keys: [{ ...well.keys[0], is_low: true }] }, /little ETH/],
    [{ outbox: { waiting: 1, oldest_seconds: 1_200 } }, /20 minutes/],
  ])('is told with what to do about it (%#)', (changed, what) => {
    const troubles = troublesOf({ ...well, ...changed } as typeof well)
    expect(troubles).toHaveLength(1)
    expect(troubles[0]?.what).toMatch(what)
    expect(troubles[0]?.next).toMatch(/\.$/)
  })
})
