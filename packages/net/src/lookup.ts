import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a host. */
export type Lookup = (host: string) => Promise<{ address: string; family: number }[]>

const PATIENCE = { timeout: 1_500, tries: 2 }

/**
 * Names of the public internet, asked of the name servers directly: the system's own way takes one of a few threads that the whole process
 * shares for as long as a name server is silent.
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

/** As this machine sees it, with the names of its own network. */
export const systemLookup: Lookup = (host) => lookup(host, { all: true })
