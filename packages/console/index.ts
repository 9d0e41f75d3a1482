// The built console, for the process that serves it. Nothing here imports React: that is in what was built.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PageAnswer, PageRequest } from './src/app/page-request.ts'

export { buildConsole, builtDirectory } from './build.ts'
export { openPainter, type Painter, PainterBusy } from './src/preview/painter.ts'
export { type Subject, subjectOf } from './src/preview/subjects.ts'
export type { PageAnswer, PageRequest }

export interface Asset {
  type: string
  /** By content encoding; `identity` is always there. */
  bodies: ReadonlyMap<string, Buffer>
  etag: string
  /** Whether its name changes with its content. */
  isImmutable: boolean
}

export interface Console {
  /** Files by path: `/assets/client-a1b2c3.js`. */
  assets: ReadonlyMap<string, Asset>
  /** Whether there is a page at a path. */
  hasPage(path: string): boolean
  /** Whether what is at a path belongs to whoever is signed in. */
  isPrivate(path: string): boolean
  render(request: PageRequest): Promise<PageAnswer>
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

/** Reads a built console into memory. Undefined when there is none in the directory. */
export async function openConsole(directory: string): Promise<Console | undefined> {
  const manifestPath = join(directory, 'client/.vite/manifest.json')
  if (!existsSync(manifestPath)) return undefined
  const server = await import(pathToFileURL(join(directory, 'server/server.js')).href)
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, 'utf8'))
  return {
    assets: readAssets(join(directory, 'client')),
    hasPage: server.hasPage,
    isPrivate: server.isPrivate,
    render: (request) => server.render(request, manifest),
  }
}

function readAssets(directory: string): Map<string, Asset> {
  const files = globSync('**/*.*', { cwd: directory }).filter((path) => extname(path) in TYPES)
  return new Map(
    files.map((path): [string, Asset] => {
      const bodies = new Map([['identity', readFileSync(join(directory, path))]])
      for (const encoding of ['br', 'gz']) {
        const compressed = join(directory, `${path}.${encoding}`)
        if (existsSync(compressed)) bodies.set(encoding === 'gz' ? 'gzip' : 'br', readFileSync(compressed))
      }
      const isImmutable = path.startsWith('assets/')
      const etag = `"${Buffer.from(path).toString('base64url').slice(-24)}-${bodies.get('identity')?.length}"`
      return [`/${path}`, { type: TYPES[extname(path)] as string, bodies, etag, isImmutable }]
    }),
  )
}
