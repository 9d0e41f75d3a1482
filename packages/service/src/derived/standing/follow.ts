import type { Transaction } from '@referrer/database'
import { dayOf } from '@referrer/ranking'
import type { Context } from '../../kit/context.ts'
import type { Follower } from '../following/following.ts'
import { makePass, type PassOptions } from './pass.ts'
import {
  areDecided,
  decisionAfter,
  doChangesWait,
  horizonOf,
  isGroundChanged,
  lastPass,
  type Pass,
} from './store.ts'

/** After a pass that failed, the next one is tried so much later. The other followers go on meanwhile. */
const RETRY_MS = 300_000

interface State {
  /** Whether verified shops may have been sold since the last pass; at the start nobody knows. */
  isGroundDoubted: boolean
  /** Of a pass that is due: what the followers have to do before it. */
  horizon: { upTo: bigint; block: bigint } | undefined
  retryAt: number
}

/** Keeps the standings: computes them once a day, and again when shops are verified or verified ones are sold. */
export function standingFollower({ log }: Pick<Context, 'log'>, options: PassOptions = {}): Follower {
  const states = new Map<number, State>()

  function stateOf(chainId: number): State {
    const state = states.get(chainId) ?? { isGroundDoubted: true, horizon: undefined, retryAt: 0 }
    states.set(chainId, state)
    return state
  }

  return {
    async follow({ tx, chain: { config }, changes }) {
      const agents = changes.flatMap((change) => (change.what === 'agent' ? change.agentId : []))
      if (await areDecided(tx, config.chainId, agents)) stateOf(config.chainId).isGroundDoubted = true
    },

    async refresh({ tx, chain: { config }, now }) {
      const { chainId } = config
      const state = stateOf(chainId)
      if (now.getTime() < state.retryAt) return false
      const last = await lastPass(tx, chainId)
      const newest = await decisionAfter(tx, chainId, last?.verification_id ?? 0n)
      if (!(await isDue(tx, chainId, { last, newest, today: dayOf(now), state }))) {
        state.horizon = undefined
        return false
      }
      // Changes that come meanwhile do not delay it further.
      const horizon = state.horizon ?? (await horizonOf(tx, chainId))
      // A chain that is indexed anew lacks purchases and owners.
      const isBehind = horizon.block < (last?.as_of_block ?? 0n)
      state.horizon = isBehind ? undefined : horizon
      if (isBehind || (await doChangesWait(tx, chainId, horizon.upTo))) return false
      const ground = {
        pass: (last?.pass ?? 0n) + 1n,
        day: Math.max(dayOf(now), last?.day ?? 0),
        as_of_block: horizon.block,
        verification_id: newest ?? last?.verification_id ?? 0n,
        computed_at: now,
      }
      state.horizon = undefined
      try {
        await tx.savepoint((inner) => makePass(inner, chainId, ground, options))
      } catch (err) {
        log.error({ err, chain: chainId }, 'the standings were not computed: those of before stay')
        state.retryAt = now.getTime() + RETRY_MS
        return false
      }
      return true
    },
  }
}

interface Known {
  last: Pass | undefined
  /** The newest decision that the last pass did not know. */
  newest: bigint | undefined
  today: number
  state: State
}

/** A market in which nothing was ever verified has no passes. */
async function isDue(
  tx: Transaction,
  chainId: number,
  { last, newest, today, state }: Known,
): Promise<boolean> {
  if (newest !== undefined) return true
  if (!last) return false
  if (last.day < today) return true
  if (!state.isGroundDoubted) return false
  if (await isGroundChanged(tx, chainId)) return true
  state.isGroundDoubted = false
  return false
}
