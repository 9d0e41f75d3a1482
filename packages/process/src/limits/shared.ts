import type { Asking } from './asking.ts'
import { type Bucket, FULL, type Rate, stepMsOf } from './bucket.ts'
import { createClients } from './clients.ts'
import { takeLocally } from './local.ts'

/** How long tokens that were taken ahead count; what is left then is lost to the client. */
const LEASE_MS = 1_000
/** The most tokens that are taken ahead: this part of the burst, and this many. */
const PART_AHEAD = 10
const MOST_AHEAD = 1_000

interface Client {
  /** Counts what this process let pass, for the time in which the store is away. */
  own: Bucket
  /** When the store was last asked. */
  askedAt: number
  /** Tokens that the store gave beyond those that were needed, and when. */
  leased: number
  leasedAt: number
  /** How many the last question wanted ahead. */
  ahead: number
  /** When the store said that there is no token, and until when. */
  refusedAt: number
  refusedUntil: number
}

const newClient = (): Client => ({
  own: { ...FULL },
  askedAt: -Infinity,
  leased: 0,
  leasedAt: 0,
  ahead: 0,
  refusedAt: 0,
  refusedUntil: 0,
})

/** Whether it was less than this long ago; not if the clock went back since. */
const isWithin = (ms: number, at: number, nowMs: number) => nowMs >= at && nowMs - at < ms

/**
 * A limiter whose buckets are in a store. A client that asks again within a second gets tokens ahead, twice as many each time, which are
 * taken from its shared bucket at once: so all replicas together let pass no more than the limit, and a busy client costs few questions.
 */
export function createSharedLimiter(
  name: string,
  rate: Rate,
  { asking, clock }: { asking: Asking; clock: () => number },
): (client: string, cost?: number) => number | Promise<number> {
  const mostAhead = Math.floor(Math.min(rate.burst / PART_AHEAD, MOST_AHEAD))
  const clientOf = createClients(Math.max(rate.burst * stepMsOf(rate), LEASE_MS), newClient)

  /** Counts what passes here too, so that a client cannot begin anew when the store goes away. */
  function pass(client: Client, cost: number, nowMs: number): 0 {
    takeLocally(client.own, rate, nowMs, cost)
    return 0
  }

  function hasLease({ leased, leasedAt }: Client, cost: number, nowMs: number): boolean {
    return leased >= cost && isWithin(LEASE_MS, leasedAt, nowMs)
  }

  function passByLease(client: Client, cost: number, nowMs: number): 0 {
    client.leased -= cost
    return pass(client, cost, nowMs)
  }

  async function askStore(client: Client, key: string, cost: number, nowMs: number): Promise<number> {
    const isBusy = client.leased === 0 && isWithin(LEASE_MS, client.askedAt, nowMs)
    client.ahead = isBusy ? Math.min(Math.max(client.ahead * 2, 1), mostAhead) : 0
    client.askedAt = nowMs
    client.leased = 0
    const answer = await asking.ask(key, rate, cost, client.ahead)
    const answeredAt = clock()
    if (!answer) return takeLocally(client.own, rate, answeredAt, cost)
    const { place, granted, left, waitSeconds } = answer
    if (place === 0 && left > 0) {
      client.leased += left
      client.leasedAt = answeredAt
    }
    if (place + cost <= granted) return pass(client, cost, answeredAt)
    // An earlier answer may have brought tokens meanwhile.
    if (hasLease(client, cost, answeredAt)) return passByLease(client, cost, answeredAt)
    client.refusedAt = answeredAt
    client.refusedUntil = answeredAt + waitSeconds * 1_000
    // What the store granted of a cost that it could not grant whole is gone.
    return waitSeconds + ((cost - 1) * stepMsOf(rate)) / 1_000
  }

  return (clientName, wanted = 1) => {
    const cost = Math.min(wanted, rate.burst)
    const nowMs = clock()
    const client = clientOf(clientName, nowMs)
    if (hasLease(client, cost, nowMs)) return passByLease(client, cost, nowMs)
    const { refusedAt, refusedUntil } = client
    if (isWithin(refusedUntil - refusedAt, refusedAt, nowMs)) return (refusedUntil - nowMs) / 1_000
    if (!asking.isUp()) return takeLocally(client.own, rate, nowMs, cost)
    return askStore(client, `${name} ${clientName}`, cost, nowMs)
  }
}
