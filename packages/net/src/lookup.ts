import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a host. */
export type Lookup = (host: string) => Promise<{ address: string; family: number }[]>

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
