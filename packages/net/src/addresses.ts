import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of IPv6 that is routed on the internet; what else there is stands for IPv4 or for something nearby. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** How a network without IPv4 reaches it: the address behind it is what counts. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Looks public, and is the platform's own service inside of every machine of one cloud. */
const CLOUD_PLATFORM = '168.63.129.16'
/**
 * How near a host may be. `public`: on the internet. `loopback`: on this machine too, for sandboxes, where strangers' shops run beside us.
 * `network`: in our network too, for addresses out of our own configuration.
 */
export type Nearness = 'public' | 'loopback' | 'network'

const NEARBY: Record<Nearness, ReadonlySet<string>> = {
  public: new Set(),
  loopback: new Set(['loopback']),
  network: new Set(['loopback', 'private', 'uniqueLocal']),
}

/** Whether an address may be connected to. */
export function isAllowedAddress(text: string, nearness: Nearness): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  const range = address.range()
  if (NEARBY[nearness].has(range)) return true
  if (address instanceof ipaddr.IPv4) return range === 'unicast' && address.toString() !== CLOUD_PLATFORM
  if (address.match(NAT64)) {
    const embedded = new ipaddr.IPv4(address.toByteArray().slice(-4))
    return isAllowedAddress(embedded.toString(), 'public')
  }
  return range === 'unicast' && address.match(GLOBAL_V6)
}

/** The host of a URL without the brackets of IPv6. `URL` has made plain addresses of the odd spellings of IPv4. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1')

const LOCALHOST = /^(?:.+\.)?localhost\.?$/

/** Whether a URL can be told to lead nowhere public, nor to this machine where that is allowed, without asking for the addresses of its host. */
export function isPlainlyPrivate(url: URL, allowLoopback: boolean): boolean {
  const host = hostOf(url)
  if (isIP(host)) return !isAllowedAddress(host, allowLoopback ? 'loopback' : 'public')
  return !allowLoopback && LOCALHOST.test(host)
}
