// Reads from streaming replicas. Whoever has just written reads his write: from a replica that has it, else from the primary.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '@referrer/database'
import { createPositions } from './positions.ts'
import { primaryGauge, replicaGauge } from './watch.ts'

const LOOK_MS = 200
const FORGET_MS = 60_000
const CONNECTIONS = 20

export interface Replica {
  sql: Sql
  /** Runs a read; fails when the replica stops answering meanwhile. */
  during<T>(read: () => Promise<T>): Promise<T>
}

export interface ReplicaState {
  /** Undefined: it does not answer, or is no replica. */
  lagSeconds: number | undefined
  isUsed: boolean
}

export interface Replicas {
  /** The replica for a read of somebody who is all of these callers; undefined: the primary. */
  choose(callers: readonly string[]): Promise<Replica | undefined>
  /** Call it after a write of theirs was committed and before it is acknowledged. */
  wrote(callers: readonly string[]): Promise<void>
  /** In the order of their URLs. */
  states(): ReplicaState[]
  close(): Promise<void>
}

export interface ReplicasOptions {
  primaryUrl: string
  urls: readonly string[]
  /** A replica that lags more is not used. */
  maxLagSeconds: number
  onTrouble(error: unknown, text: string): void
}

export function openReplicas({ primaryUrl, urls, maxLagSeconds, onTrouble }: ReplicasOptions): Replicas {
  const primary = connect(primaryUrl, { max: 3, name: 'referrer replicas' })
  const positions = createPositions(primary, maxLagSeconds)
  const head = primaryGauge(primaryUrl)
  const followers = urls.map(follow)
  /** Where the primary was, newest first. */
  let samples: { position: bigint; at: number }[] = []
  /** Until when the primary serves everybody, because a write could not be recorded. */
  let heldUntil = 0
  const ended = new AbortController()

  const watching = (async () => {
    let forgottenAt = performance.now()
    while (!ended.signal.aborted) {
      const at = performance.now()
      const [position] = await Promise.all([head.look(), ...followers.map((follower) => follower.look())])
      if (position !== undefined) samples.unshift({ position, at })
      samples = samples.filter((sample) => at - sample.at < 2_000 * maxLagSeconds)
      if (at - forgottenAt > FORGET_MS) {
        forgottenAt = at
        await positions
          .forgetOld()
          .catch((error) => onTrouble(error, 'old positions of callers were not deleted'))
      }
      await sleep(LOOK_MS, undefined, { signal: ended.signal }).catch(() => {})
    }
  })()

  /** How long ago the primary was where the replica is now. */
  function lagOf(replayed: bigint | undefined): number | undefined {
    const passed = replayed === undefined ? undefined : samples.find(({ position }) => position <= replayed)
    return passed && (performance.now() - passed.at) / 1_000
  }

  function isUsed({ replayed }: Follower): boolean {
    const lag = lagOf(replayed())
    return lag !== undefined && lag <= maxLagSeconds
  }

  return {
    async choose(callers) {
      const used = followers.filter(isUsed)
      if (used.length === 0 || performance.now() < heldUntil) return undefined
      const needed = await positions.neededBy(callers).catch(() => undefined)
      if (needed === undefined) return undefined
      const fresh = used.filter(({ replayed }) => (replayed() ?? -1n) >= needed)
      // A caller keeps its replica, in every process, so that what it has seen does not vanish again.
      return preferred(fresh, callers.at(-1) ?? '')?.replica
    },
    async wrote(callers) {
      await positions.wrote(callers).catch((error) => {
        heldUntil = performance.now() + 1_000 * maxLagSeconds
        onTrouble(error, 'the position of a write was not recorded: the primary serves all reads for a while')
      })
    },
    states: () =>
      followers.map((follower) => ({ lagSeconds: lagOf(follower.replayed()), isUsed: isUsed(follower) })),
    async close() {
      ended.abort()
      await watching
      await Promise.all([primary.end({ timeout: 0 }), head.close(), ...followers.map((each) => each.close())])
    },
  }
}

interface Follower {
  url: string
  replica: Replica
  /** Undefined: it does not answer. */
  replayed(): bigint | undefined
  look(): Promise<void>
  close(): Promise<void>
}

function follow(url: string): Follower {
  const sql = connect(url, { max: CONNECTIONS, name: 'referrer service reads' })
  const gauge = replicaGauge(url)
  const reading = new Set<(error: Error) => void>()
  let replayed: bigint | undefined
  return {
    url,
    replayed: () => replayed,
    async look() {
      replayed = await gauge.look()
      if (replayed !== undefined) return
      for (const fail of reading) fail(new Error('the replica does not answer'))
    },
    replica: {
      sql,
      async during(read) {
        const gone = Promise.withResolvers<never>()
        reading.add(gone.reject)
        try {
          return await Promise.race([read(), gone.promise])
        } finally {
          reading.delete(gone.reject)
        }
      },
    },
    async close() {
      await Promise.all([sql.end({ timeout: 0 }), gauge.close()])
    },
  }
}

/** By rendezvous hashing: when a replica goes, only its callers move. */
function preferred(followers: Follower[], caller: string): Follower | undefined {
  const scored = followers.map((follower) => ({ follower, score: score(`${caller} ${follower.url}`) }))
  return scored.sort((a, b) => b.score - a.score)[0]?.follower
}

/** FNV-1a, finished so that similar texts are far apart. */
function score(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
