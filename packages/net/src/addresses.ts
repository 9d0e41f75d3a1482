import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of IPv6 that is routed on the internet; what else there is stands for IPv4 or for something nearby. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** How a network without IPv4 reaches it: the address behind it is what counts. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Looks public, and is the platform's own service inside of every machine of one cloud. */
const CLOUD_PLATFORM = '168.63.129.16'
const NEARBY = new Set(['loopback', 'private', 'uniqueLocal'])

/** Whether an address may be connected to for a stranger: on the public internet, or with `allowPrivate` on this machine and its network. */
export function isAllowedAddress(text: string, allowPrivate: boolean): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  const range = address.range()
  if (NEARBY.has(range)) return allowPrivate
  if (address instanceof ipaddr.IPv4) return range === 'unicast' && address.toString() !== CLOUD_PLATFORM
  if (address.match(NAT64)) {
    const embedded = new ipaddr.IPv4(address.toByteArray().slice(-4))
    return isAllowedAddress(embedded.toString(), false)
  }
  return range === 'unicast' && address.match(GLOBAL_V6)
}

/** The host of a URL without the brackets of IPv6. `URL` has made plain addresses of the odd spellings of IPv4. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1')

const LOCALHOST = /^(?:.+\.)?localhost\.?$/

/** Whether a URL can be told to lead nowhere public without asking for the addresses of its host. */
export function isPlainlyPrivate(url: URL): boolean {
  const host = hostOf(url)
  return isIP(host) ? !isAllowedAddress(host, false) : LOCALHOST.test(host)
}
