import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

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
