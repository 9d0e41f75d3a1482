import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** All addresses of a host. */
export interface Lookup {
  (host: string): Promise<{ address: string; family: number }[]>
  /** Networks that are public by their numbers and not to be reached for strangers all the same. */
  denied?: BlockList
}

const PATIENCE = { timeout: 1_500, tries: 2 }

/**
 * Resolves public names by asking the name servers directly: the system resolver blocks one of the few threads that the whole process
 * shares while a name server does not answer.
 */
export function publicLookup(resolver = new Resolver(PATIENCE)): Lookup {
  return async (host) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const of = (family: 4 | 6, found: PromiseSettledResult<string[]>) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : []
    const addresses = [...of(4, four), ...of(6, six)]
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason
    return addresses
  }
}

/** The system resolver, which also knows the names of the local network. */
export const systemLookup: Lookup = (host) => lookup(host, { all: true })

/** The same lookup, which denies these networks (`10.0.0.0/8`, or one address) to whoever fetches by it. */
export function denying(lookup: Lookup, networks: readonly string[]): Lookup {
  const denied = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const isSix = isIP(address) === 6
    denied.addSubnet(address, Number(bits ?? (isSix ? 128 : 32)), isSix ? 'ipv6' : 'ipv4')
  }
  return Object.assign((host: string) => lookup(host), { denied })
}
