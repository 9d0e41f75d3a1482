// A package registry on this machine with our packages as they would be published, and everybody else's from the real one: `npm install`
// and `npm create` work as they will after the release.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Registry {
  url: string
  close(): Promise<void>
}

export interface RegistryOptions {
  /** The folder of what `npm pack` made. */
  folder: string
  /** Where all other packages are. */
  upstream: string
  port?: number
}

interface Packed {
  file: string
  manifest: { name: string; version: string }
  integrity: string
}

export async function startRegistry({ folder, upstream, port = 0 }: RegistryOptions): Promise<Registry> {
  const packages = new Map(readPacked(folder).map((one) => [one.manifest.name, one]))
  const files = new Map([...packages.values()].map(({ file }) => [basename(file), file]))
  let url = ''

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/').slice(1)
    const ours = packages.get(path)
    const file = files.get(path.replace(/^-\//, ''))
    if (request.method !== 'GET') response.writeHead(405).end()
    else if (ours) answer(response, packument(ours, url))
    else if (file) response.setHeader('content-type', 'application/octet-stream').end(readFileSync(file))
    else await forward(`${upstream.replace(/\/$/, '')}${request.url}`, request.headers.accept, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function readPacked(folder: string): Packed[] {
  return globSync('*.tgz', { cwd: folder }).map((name) => {
    const file = join(folder, name)
    const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' })
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64')
    return { file, manifest: JSON.parse(manifest), integrity: `sha512-${digest}` }
  })
}

const packument = ({ file, manifest, integrity }: Packed, url: string) => ({
  name: manifest.name,
  'dist-tags': { latest: manifest.version },
  versions: {
    [manifest.version]: { ...manifest, dist: { tarball: `${url}/-/${basename(file)}`, integrity } },
  },
})

/** Not to be remembered: the next one who serves here may have built other packages. */
const answer = (response: ServerResponse, body: object) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))

/** npm asks again after a lost connection; without a bound it would wait for its own, five minutes. */
const FORWARD_FOR_MS = 60_000

async function forward(url: string, accept: string | undefined, response: ServerResponse): Promise<void> {
  try {
    const answer = await fetch(url, {
      headers: { accept: accept ?? '*/*' },
      signal: AbortSignal.timeout(FORWARD_FOR_MS),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    if (answer.body) await pipeline(Readable.fromWeb(answer.body as never), response)
    else response.end()
  } catch {
    // A broken answer makes npm ask again, which is what a lost connection should do.
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  }
}
