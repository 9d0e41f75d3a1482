import { type BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The IPv6 range that is routed on the internet; everything outside it maps IPv4 or is local. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64, by which an IPv6-only network reaches IPv4: the embedded IPv4 address is checked instead. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Looks public, but is the internal platform service of one cloud provider on each of its machines. */
const CLOUD_PLATFORM = '168.63.129.16'
/**
 * Which hosts are allowed. `public`: on the internet only. `loopback`: also on this machine, for sandboxes, where shops of third parties run
 * beside us. `network`: also in our private network, for addresses from our own configuration.
 */
export type Nearness = 'public' | 'loopback' | 'network'

const NEARBY: Record<Nearness, ReadonlySet<string>> = {
  public: new Set(),
  loopback: new Set(['loopback']),
  network: new Set(['loopback', 'private', 'uniqueLocal']),
}

/** Whether an address may be connected to. */
export function isAllowedAddress(text: string, nearness: Nearness, denied?: BlockList): boolean {
  if (!ipaddr.isValid(text) || denied?.check(text, isIP(text) === 6 ? 'ipv6' : 'ipv4')) return false
  const address = ipaddr.parse(text)
  const range = address.range()
  if (NEARBY[nearness].has(range)) return true
  if (address instanceof ipaddr.IPv4) return range === 'unicast' && address.toString() !== CLOUD_PLATFORM
  if (address.match(NAT64)) {
    const embedded = new ipaddr.IPv4(address.toByteArray().slice(-4))
    return isAllowedAddress(embedded.toString(), 'public', denied)
  }
  return range === 'unicast' && address.match(GLOBAL_V6)
}

/** The host of a URL without the brackets of IPv6. `URL` has normalised unusual spellings of IPv4 already. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1')

const LOCALHOST = /^(?:.+\.)?localhost\.?$/

/** Whether a URL is certainly not allowed, judged without DNS: its host is a literal address that is neither public nor allowed loopback. */
export function isPlainlyPrivate(url: URL, allowLoopback: boolean): boolean {
  const host = hostOf(url)
  if (isIP(host)) return !isAllowedAddress(host, allowLoopback ? 'loopback' : 'public')
  return !allowLoopback && LOCALHOST.test(host)
}
