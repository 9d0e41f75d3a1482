// The server of the demo shops: what a merchant's looks like with @referrer/merchant.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createPaymentMemory, createReferralEndpoint, type PaymentMemory } from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import { X402 } from '@referrer/protocol'
import type { Hex } from 'viem'
import { HOST } from '../ports.ts'
import type { World } from '../program.ts'
import type { Good } from './good.ts'
import { frontHtml, frontJson } from './page.ts'
import { RequestError } from './request-error.ts'
import { SHOPS } from './shops.ts'

export interface Shop {
  url: string
  stop(): Promise<void>
}

/** Who a shop belongs to. */
export interface Owner {
  merchantId: number
  /** The server holds this key and not the owner's: whoever steals it can ask for payments, and nothing else. */
  signingKey: Hex
}

export interface ShopOptions {
  port: number
  /** The marketplace that the shops sell through. */
  baseUrl: string
  facilitatorUrl: string
  /** One for each of `SHOPS`. */
  owners: readonly Owner[]
}

const PATIENCE_MS = 3_000

export async function startShop(world: World, options: ShopOptions): Promise<Shop> {
  const url = `http://${HOST}:${options.port}`
  const payments = createPaymentMemory()
  const shops = SHOPS.flatMap((shop, at) => {
    const owner = options.owners[at]
    return owner ? [{ ...shop, ...owner }] : []
  })
  const endpoints = shops.flatMap(({ goods, ...owner }) =>
    goods.map((good) => [good.path, sell(good, world, { ...options, ...owner }, payments)] as const),
  )
  // One of each shop, one after another: a wrong configuration is one of the shop, and forty at once would ask the chain hundreds of things.
  for (const { goods } of shops) await endpoints.find(([path]) => path === goods[0]?.path)?.[1].ready()
  const sellers = new Map(endpoints.map(([path, endpoint]) => [path, nodeHandler(endpoint)]))
  const fronts = new Map(
    shops.map((shop) => [shop.path, { ...shop, shopUrl: url, baseUrl: options.baseUrl, others: SHOPS }]),
  )

  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const seller = sellers.get(path)
    if (seller) return void seller(request, response)
    const front = fronts.get(path)
    if (!front) return answer(response, 404, { error: `nothing is sold here: see ${url}` })
    if (request.headers.accept?.includes('text/html'))
      return response.setHeader('content-type', 'text/html; charset=utf-8').end(frontHtml(front))
    answer(response, 200, frontJson(front))
  })
  server.listen(options.port, HOST)
  await once(server, 'listening')
  return {
    url,
    async stop() {
      const timer = setTimeout(() => server.closeAllConnections(), PATIENCE_MS)
      server.close()
      await once(server, 'close')
      clearTimeout(timer)
    },
  }
}

function sell(
  good: Good,
  { chainId, rpcUrl, contracts }: World,
  options: Pick<ShopOptions, 'baseUrl' | 'facilitatorUrl'> & Owner,
  payments: PaymentMemory,
) {
  return createReferralEndpoint({
    chainId,
    rpcUrl,
    addressRegistry: contracts.AddressRegistry,
    facilitatorUrl: options.facilitatorUrl,
    setupUrl: `${options.baseUrl}/.well-known/referrer-agent`,
    merchantId: options.merchantId,
    signingKey: options.signingKey,
    payments,
    product: {
      id: good.productId,
      description: good.description,
      mimeType: 'application/json',
      // Clients that find it in the x402 catalogue call it as this says.
      input: { example: Object.fromEntries(new URLSearchParams(good.example)) },
    },
    // Who only asks for the price need not say yet what for. Who pays must, or would pay for nothing.
    price: async (request) =>
      (request.headers.has(X402.PAYMENT_SIGNATURE_HEADER) && (await refusal(good, request))) || good.price,
    serve: async (request) => (await good.prepare(request, Date.now()))(),
    onEvent: (event) => {
      if ('error' in event || event.type === 'facilitator_refused') console.warn(`shop ${good.path}:`, event)
    },
  })
}

/** The refusal of a request that cannot be answered; undefined when it can. */
async function refusal(good: Good, request: Request): Promise<Response | undefined> {
  try {
    await good.prepare(request, Date.now())
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return Response.json({ error: error.message }, { status: 400 })
    throw error
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body, null, 2))
}
