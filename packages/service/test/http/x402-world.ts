// Servers for resources elsewhere: a catalogue like those of facilitators, and merchants' hosts with manifests.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Entry = Record<string, unknown>

export interface Catalogue {
  url: string
  /** By account, in lower case. */
  listed: Map<string, Entry[]>
  /** Path and query of every request. */
  asked: string[]
  /**
   * `merchant`: has the route that searches by account. `resources`: has the one with a filter. `unfiltered`: has
   * that one, but ignores the filter. `broken`, `silent`: gives no useful answer.
   */
  speaks: 'merchant' | 'resources' | 'unfiltered' | 'broken' | 'silent'
  close(): void
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function end(server: Server): void {
  server.closeAllConnections()
  server.close()
}

const json = (response: ServerResponse, value: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

export async function startCatalogue(): Promise<Catalogue> {
  const server = createServer((request, response) => {
    catalogue.asked.push(request.url ?? '')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const payTo = searchParams.get('payTo') ?? ''
    const [limit, offset] = [Number(searchParams.get('limit')), Number(searchParams.get('offset'))]
    const all =
      catalogue.speaks === 'unfiltered'
        ? [...catalogue.listed.values()].flat()
        : (catalogue.listed.get(payTo.toLowerCase()) ?? [])
    const page = all.slice(offset, offset + limit)
    const pagination = { limit, offset, total: all.length }
    if (catalogue.speaks === 'silent') return
    if (catalogue.speaks === 'merchant' && pathname === '/x402/discovery/merchant') {
      json(response, { x402Version: 2, payTo, resources: page, pagination })
    } else if (
      (catalogue.speaks === 'resources' || catalogue.speaks === 'unfiltered') &&
      pathname === '/x402/discovery/resources'
    ) {
      json(response, { x402Version: 2, items: page, pagination })
    } else response.writeHead(catalogue.speaks === 'broken' ? 500 : 404).end('<html>')
  })
  const catalogue: Catalogue = {
    url: `${await listen(server)}/x402`,
    listed: new Map(),
    asked: [],
    speaks: 'merchant',
    close: () => end(server),
  }
  return catalogue
}

export interface Host {
  origin: string
  /** The answers by path: JSON, or text as it is. */
  serves: Record<string, unknown>
  asked: string[]
  close(): void
}

export async function startHost(): Promise<Host> {
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    host.asked.push(path)
    const served = host.serves[path]
    if (served === undefined) response.writeHead(404).end()
    else if (typeof served === 'string') response.end(served)
    else json(response, served)
  })
  const host: Host = { origin: await listen(server), serves: {}, asked: [], close: () => end(server) }
  return host
}
