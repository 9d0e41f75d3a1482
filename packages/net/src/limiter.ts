import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface LimiterOptions {
  perSecond: number
  burst: number
}

/** Returns how many seconds the client must wait; 0 when it may go on. */
export type Limiter = (client: string, nowMs: number) => number

interface Bucket {
  tokens: number
  at: number
}

/** The most clients that are tracked, so that memory stays bounded. */
const MOST_CLIENTS = 100_000

/** A token bucket for each client: `burst` requests, refilled by `perSecond`. */
export function createLimiter({ perSecond, burst }: LimiterOptions): Limiter {
  // A bucket that was not used for this long is full again and can be dropped.
  const refillMs = (burst / perSecond) * 1_000
  let buckets = new Map<string, Bucket>()
  let older = new Map<string, Bucket>()
  let turnedAt = 0

  return (client, nowMs) => {
    if (nowMs - turnedAt > refillMs || buckets.size >= MOST_CLIENTS) {
      older = buckets
      buckets = new Map()
      turnedAt = nowMs
    }
    let bucket = buckets.get(client)
    if (!bucket) {
      bucket = older.get(client) ?? { tokens: burst, at: nowMs }
      buckets.set(client, bucket)
    }
    const refilled = (Math.max(nowMs - bucket.at, 0) * perSecond) / 1_000
    bucket.tokens = Math.min(bucket.tokens + refilled, burst)
    bucket.at = nowMs
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
    bucket.tokens -= 1
    return 0
  }
}

/** Some proxies add the port. */
const WITH_PORT = /^(?:\[(.+)\]|([\d.]+)):\d+$/
const NO_ADDRESS = 'no address'

/** IPv6 clients are grouped by network, because each has a whole one. Forwarded values that are not addresses all count as one client. */
export function clientOf(ip: string): string {
  const [, v6, v4] = WITH_PORT.exec(ip) ?? []
  const host = v6 ?? v4 ?? ip
  if (isIPv4(host)) return host
  if (!isIPv6(host)) return NO_ADDRESS
  const address = ipaddr.IPv6.parse(host)
  return address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : address.parts.slice(0, 4).join(':')
}
