import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'

const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** Allows files of this server only, and no inline scripts or styles. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const { resolve } = createRequire(import.meta.url)
const own = (name: string) => new URL(`./reference/${name}`, import.meta.url)

const FILES: Record<string, { type: string; source: string | URL }> = {
  'swagger-ui.css': { type: CSS, source: resolve('swagger-ui-dist/swagger-ui.css') },
  'swagger-ui-bundle.js': { type: SCRIPT, source: resolve('swagger-ui-dist/swagger-ui-bundle.js') },
  'favicon-32x32.png': { type: 'image/png', source: resolve('swagger-ui-dist/favicon-32x32.png') },
  'reference.css': { type: CSS, source: own('reference.css') },
  'reference.js': { type: SCRIPT, source: own('reference.js') },
}

/** `files` is the path of the files, relative to the page. */
const page = (title: string, files: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: reference</title>
<link rel="icon" type="image/png" href="${files}favicon-32x32.png">
<link rel="stylesheet" href="${files}swagger-ui.css">
<link rel="stylesheet" href="${files}reference.css">
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The same as data: <a href="${files}../openapi.json">openapi.json</a></noscript>
<script src="${files}swagger-ui-bundle.js"></script>
<script src="${files}reference.js"></script>
</body>
</html>
`

/**
 * Serves the API reference: for programs at `/openapi.json`, for people at `/docs`. The title is not escaped. The document is made when it
 * is asked for first: most starts would make it for nobody.
 */
export function docsRoutes(
  app: FastifyInstance,
  describe: () => { info: { title: string } },
  optionsOfDocument: RouteShorthandOptions = {},
): void {
  const openapi = cached('application/json; charset=utf-8', async () =>
    Buffer.from(JSON.stringify(describe())),
  )
  const pageWith = (files: string) =>
    cached(HTML, async () => Buffer.from(page(describe().info.title, files)))
  app.get('/openapi.json', optionsOfDocument, openapi)
  app.get('/docs', pageWith('docs/'))
  app.get('/docs/', pageWith(''))
  for (const [name, { type, source }] of Object.entries(FILES)) {
    app.get(
      `/docs/${name}`,
      cached(type, () => readFile(source)),
    )
  }
}

/** A handler that reads its content at the first request, keeps it in memory and answers 304 to a matching ETag. */
function cached(type: string, read: () => Promise<Buffer>) {
  let kept: Promise<{ bytes: Buffer; etag: string }> | undefined
  async function load() {
    const bytes = await read()
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
  }
  return async (request: FastifyRequest, reply: FastifyReply) => {
    kept ??= load().catch((error) => {
      kept = undefined
      throw error
    })
    const { bytes, etag } = await kept
    reply
      .header('etag', etag)
      .header('cache-control', 'no-cache')
      .header('content-security-policy', CONTENT_SECURITY_POLICY)
      .header('x-content-type-options', 'nosniff')
    // `includes` also matches a weak ETag, because a proxy may have weakened it.
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    return reply.type(type).send(bytes)
  }
}
