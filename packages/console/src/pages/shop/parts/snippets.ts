// The code of an endpoint for each framework that @referrer/merchant has an adapter for, with a shop's own values.
import { NETWORKS } from '@referrer/client/chain'
import type { Address, Hex } from 'viem'

export interface ShopValues {
  chainId: number
  marketUrl: string
  addressRegistry: Address
  /** Undefined when the market does not tell who settles. */
  facilitatorUrl: string | undefined
  merchantId: number
  productId: Hex
  /** The product's name; may be empty. */
  name: string
  /** USDC as decimal text. */
  price: string
}

export interface SourceFile {
  name: string
  text: string
}

export interface Framework {
  name: string
  title: string
  install: string
  files: SourceFile[]
}

/** A name, so that nobody takes the text for imports of the console. */
const LIBRARY = '@referrer/merchant'
const LONGEST_DESCRIPTION = 200
const quoted = (text: string): string =>
  JSON.stringify(text.slice(0, LONGEST_DESCRIPTION)).replaceAll(
    /[\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16)}`,
  )

const networkOf = (chainId: number) => Object.values(NETWORKS).find((network) => network.chainId === chainId)

/** A node that everybody knows. The market does not tell which node it uses, and a sandbox may have other ports than the usual ones. */
function nodeOf({ chainId, marketUrl }: ShopValues): { url: string; note: string } {
  const network = networkOf(chainId)
  return network && (network.marketUrl === undefined || network.marketUrl === marketUrl)
    ? { url: network.rpcUrl, note: 'a node of the chain; better one of your own' }
    : {
        url: 'https://node.example',
        note: `put a node of chain ${chainId} here; a sandbox prints its own when it starts`,
      }
}

const market = (values: ShopValues): string => `  chainId: ${values.chainId},
  rpcUrl: ${quoted(nodeOf(values).url)}, // ${nodeOf(values).note}
  addressRegistry: '${values.addressRegistry}',
  facilitatorUrl: ${quoted(values.facilitatorUrl ?? 'https://facilitator.example')},
  setupUrl: ${quoted(`${values.marketUrl}/.well-known/referrer-agent`)},
  merchantId: ${values.merchantId},
  signingKey: process.env.MERCHANT_SIGNING_KEY, // a server key of your shop
  payments: createPaymentMemory(), // one for all endpoints of the process`

const endpoint = (values: ShopValues): SourceFile => ({
  name: 'endpoint.js',
  text: `import { createPaymentMemory, createReferralEndpoint } from '${LIBRARY}'

export const endpoint = createReferralEndpoint({
${market(values)}
  product: { id: '${values.productId}', description: ${quoted(values.name)} },
  price: '${values.price}', // USDC
  // Called once the money has moved. What it returns goes to the buyer.
  serve: (request, sale) => ({ message: 'Thank you', topic: new URL(request.url).searchParams.get('topic'), sale: sale.id }),
})
`,
})

const SERVERS: [name: string, title: string, packages: string, file: SourceFile][] = [
  [
    'hono',
    'Hono',
    'hono @hono/node-server',
    {
      name: 'server.js',
      text: `import { serve } from '@hono/node-server'
import { honoHandler } from '${LIBRARY}/hono'
import { Hono } from 'hono'
import { endpoint } from './endpoint.js'

await endpoint.ready()
const app = new Hono()
app.on(['GET', 'POST'], '/buy', honoHandler(endpoint))
serve({ fetch: app.fetch, port: 3000 })
`,
    },
  ],
  [
    'express',
    'Express',
    'express',
    {
      name: 'server.js',
      text: `import { expressHandler } from '${LIBRARY}/express'
import express from 'express'
import { endpoint } from './endpoint.js'

await endpoint.ready()
const app = express()
app.all('/buy', expressHandler(endpoint))
app.listen(3000)
`,
    },
  ],
  [
    'fastify',
    'Fastify',
    'fastify',
    {
      name: 'server.js',
      text: `import { fastifyReferral } from '${LIBRARY}/fastify'
import fastify from 'fastify'
import { endpoint } from './endpoint.js'

await endpoint.ready()
const app = fastify()
app.register(fastifyReferral, { url: '/buy', endpoint })
await app.listen({ port: 3000 })
`,
    },
  ],
  [
    'next',
    'Next.js',
    'next react react-dom',
    {
      name: 'app/buy/route.js',
      text: `import { nextHandlers } from '${LIBRARY}/next'
import { endpoint } from '../../endpoint.js'

export const { GET, POST } = nextHandlers(endpoint)
`,
    },
  ],
  [
    'node',
    'Node',
    '',
    {
      name: 'server.js',
      text: `import { createServer } from 'node:http'
import { nodeHandler } from '${LIBRARY}/node'
import { endpoint } from './endpoint.js'

await endpoint.ready()
createServer(nodeHandler(endpoint)).listen(3000)
`,
    },
  ],
  [
    'fetch',
    'Fetch API',
    '',
    {
      name: 'worker.js',
      text: `// For whatever takes a web Request: Deno, Bun, workers.
import { endpoint } from './endpoint.js'

export default { fetch: endpoint.fetch }
`,
    },
  ],
]

/** A shop that uses the official x402 middleware keeps it. */
const official = (values: ShopValues): Framework => ({
  name: 'x402',
  title: 'x402 middleware',
  install: 'npm install @referrer/merchant hono @hono/node-server @x402/hono @x402/core @x402/evm',
  files: [
    {
      name: 'server.js',
      text: `import { serve } from '@hono/node-server'
import { createPaymentMemory } from '${LIBRARY}'
import { officialReferral } from '${LIBRARY}/x402'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono' // or '@x402/express'
import { Hono } from 'hono'

const referral = officialReferral({
${market(values)}
  product: { id: '${values.productId}' },
})
const server = new x402ResourceServer(referral.facilitator).register(referral.network, new ExactEvmScheme())
for (const extension of referral.extensions) server.registerExtension(extension)

await referral.ready()
const app = new Hono()
app.use(paymentMiddleware({ '/buy': referral.route('${values.price}') }, server))
app.all('/buy', (context) => context.json({ message: 'Thank you' }))
serve({ fetch: app.fetch, port: 3000 })
`,
    },
  ],
})

export const frameworksOf = (values: ShopValues): Framework[] => [
  ...SERVERS.map(([name, title, packages, file]) => ({
    name,
    title,
    install: `npm install @referrer/merchant ${packages}`.trim(),
    files: [endpoint(values), file],
  })),
  official(values),
]

/** The file that the commands of @referrer/merchant read in the folder of a shop. */
export const projectFile = (values: ShopValues, slug: string, endpointUrl: string): SourceFile => ({
  name: 'referrer.json',
  text: `${JSON.stringify(
    {
      network: networkOf(values.chainId)?.name,
      market: values.marketUrl,
      rpc: nodeOf(values).url,
      chainId: values.chainId,
      addressRegistry: values.addressRegistry,
      facilitator: values.facilitatorUrl,
      merchantId: values.merchantId,
      products: { [slug]: { id: values.productId, name: values.name, endpoint: endpointUrl } },
    },
    null,
    2,
  )}
`,
})
