import { int } from '@referrer/chain/testing'
import type { ForkingChain, SignedCall } from './forking-chain.ts'
import { randomCalls } from './trade.ts'

/**
 * - `other order`: the same transactions, mined in other blocks
 * - `partly`: some of them again; the last ones of everybody are lost
 * - `different`: other transactions
 * - `shorter`: as `partly`, in fewer blocks than before, so that for a while the chain is shorter than it was
 */
export type ForkKind = 'other order' | 'partly' | 'different' | 'shorter'
export const FORK_KINDS: ForkKind[] = ['other order', 'partly', 'different', 'shorter']

/** Blocks deeper than this are never removed, counted from the highest block that ever existed. */
export const DEEPEST = 12

/** Replaces the newest blocks by others. Returns how many it removed. */
export async function reorganise(
  chain: ForkingChain,
  random: () => number,
  kind: ForkKind,
  wanted: number,
  pause: () => Promise<void>,
): Promise<number> {
  const depth = Math.min(wanted, DEEPEST - Number(chain.highest() - chain.head().number))
  if (depth <= 0) return 0
  const taken = await chain.takeBack(depth)
  const gone = taken.flatMap(({ calls }) => calls)
  await pause()
  if (kind === 'different') {
    for (let count = 0; count <= depth; count += 1) {
      const calls = await randomCalls(chain, random, int(random, 0, 2), chain.head().timestamp + 3n)
      await chain.mine(await chain.sign(calls), 3n)
    }
    return taken.length
  }
  const again = shuffled(kind === 'other order' ? gone : upTo(gone, random), random)
  const blocks = kind === 'shorter' ? int(random, 1, Math.max(1, depth - 1)) : depth + int(random, 0, 2)
  for (let left = blocks; left > 0; left -= 1) {
    const size = left === 1 ? again.length : int(random, 0, Math.ceil((2 * again.length) / left))
    // At another time than before, so that the same transactions make another block.
    await chain.mine(again.splice(0, size), BigInt(int(random, 16, 30)))
    if (kind === 'shorter') await pause()
  }
  return taken.length
}

/** The transactions of each sender up to a random point, without gaps. */
function upTo(calls: SignedCall[], random: () => number): SignedCall[] {
  const kept = [...Map.groupBy(calls, ({ from }) => from).values()].map((own) =>
    own.slice(0, int(random, 0, own.length)),
  )
  return calls.filter((call) => kept.some((own) => own.includes(call)))
}

/** In random order, but the transactions of each sender keep theirs. */
function shuffled(calls: SignedCall[], random: () => number): SignedCall[] {
  const queues = [...Map.groupBy(calls, ({ from }) => from).values()].map((own) => [...own])
  return calls.flatMap(() => {
    const waiting = queues.filter(({ length }) => length > 0)
    return waiting[int(random, 0, waiting.length - 1)]?.shift() ?? []
  })
}
