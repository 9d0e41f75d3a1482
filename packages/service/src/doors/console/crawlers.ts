// What crawlers read first: which pages there are, and which are not for them.
import { createCache } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../kit/context.ts'
import { escaped } from '../../kit/html.ts'

/** Pages of one person, and addresses that are for programs. */
const NOT_FOR_CRAWLERS = [
  '/v1/',
  '/admin/',
  '/console/',
  '/mcp',
  '/me',
  '/operator',
  '/shop',
  '/sign-in',
  '/link',
]
const ALWAYS_THERE = ['/', '/discover', '/reviewers']
/** Lists end here; a sitemap may have 50,000 addresses, and one page of a list is one question to our routes. */
const MOST_LISTED = 10_000
const IN_ONE_FILE = 100
const TTL_MS = 600_000
const KEPT = 500
const HEADERS = { 'cache-control': `public, max-age=${TTL_MS / 1_000}`, 'x-content-type-options': 'nosniff' }

type Listed = Record<string, Record<string, unknown>[]>

interface Kind {
  /** Our route that lists them, and the name of the list in its answer. */
  route: string
  list: string
  /** The name of their count among the market's figures. */
  count: string
  pathOf(one: Record<string, unknown>): string
}

const KINDS: Record<string, Kind> = {
  products: {
    route: '/v1/product',
    list: 'products',
    count: 'products',
    pathOf: ({ merchant_id, product_id }) => `/product/${merchant_id}/${product_id}`,
  },
  reviewers: {
    route: '/v1/agent',
    list: 'agents',
    count: 'agents',
    pathOf: ({ agent_id }) => `/reviewer/${agent_id}`,
  },
  merchants: {
    route: '/v1/merchant',
    list: 'merchants',
    count: 'merchants',
    pathOf: ({ merchant_id }) => `/merchant/${merchant_id}`,
  },
}
const FILE = /^\/sitemap\/(pages|(products|reviewers|merchants)-([1-9]\d{0,2}))\.xml$/

/** `askFor` asks our own routes for a client. */
export function crawlerRoutes(
  app: FastifyInstance,
  { config: { publicUrl }, clock }: Pick<Context, 'config' | 'clock'>,
  askFor: (ip: string) => typeof fetch,
): void {
  const robots = [
    'User-agent: *',
    ...NOT_FOR_CRAWLERS.map((path) => `Disallow: ${path}`),
    '# What a merchant sells elsewhere is looked up in other catalogues.',
    'Disallow: /*elsewhere=',
    `Sitemap: ${publicUrl}/sitemap.xml`,
    '',
  ].join('\n')
  app.get('/robots.txt', { config: { isPublic: true } }, (_request, reply) =>
    reply.headers(HEADERS).type('text/plain; charset=utf-8').send(robots),
  )

  /** Undefined: there is no such file. */
  const fileOf = createCache<{ path: string; ip: string }, string | undefined>({
    keyOf: ({ path }) => path,
    load: ({ path, ip }) => write(path, (route) => ask(askFor(ip), route)),
    ttlMs: (file) => (file ? TTL_MS : 0),
    max: KEPT,
    clock,
  })
  for (const url of ['/sitemap.xml', '/sitemap/:file']) {
    app.get(url, { config: { isPublic: true } }, async (request, reply) => {
      const file = await fileOf({ path: request.url.split('?', 1)[0] as string, ip: request.ip })
      if (file === undefined) return reply.callNotFound()
      return reply.headers(HEADERS).type('application/xml; charset=utf-8').send(file)
    })
  }

  async function write(path: string, ask: (route: string) => Promise<unknown>): Promise<string | undefined> {
    if (path === '/sitemap.xml') return index((await ask('/v1/stats')) as Record<string, number>)
    const [, file, name = '', page] = FILE.exec(path) ?? []
    if (file === 'pages') return addresses(ALWAYS_THERE)
    const kind = KINDS[name]
    if (!kind || Number(page) * IN_ONE_FILE > MOST_LISTED) return undefined
    const answer = (await ask(`${kind.route}?page=${page}&limit=${IN_ONE_FILE}`)) as Listed
    const listed = answer[kind.list] ?? []
    return listed.length === 0 ? undefined : addresses(listed.map(kind.pathOf))
  }

  function index(stats: Record<string, number>): string {
    const files = Object.entries(KINDS).flatMap(([name, { count }]) => {
      const pages = Math.ceil(Math.min(stats[count] ?? 0, MOST_LISTED) / IN_ONE_FILE)
      return Array.from({ length: pages }, (_, at) => `/sitemap/${name}-${at + 1}.xml`)
    })
    return xml('sitemapindex', 'sitemap', ['/sitemap/pages.xml', ...files])
  }

  const addresses = (paths: string[]) => xml('urlset', 'url', paths)

  const xml = (root: string, element: string, paths: string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => `<${element}><loc>${escaped(publicUrl + path)}</loc></${element}>`).join('\n')}
</${root}>
`
}

async function ask(fetch: typeof globalThis.fetch, route: string): Promise<unknown> {
  const answer = await fetch(`http://localhost${route}`)
  if (!answer.ok) throw new Error(`${route} answered ${answer.status}`)
  return answer.json()
}
