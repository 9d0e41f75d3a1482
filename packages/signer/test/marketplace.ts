// The whole marketplace for signers: service, facilitator and a shop on one chain, two reviews of its product, and a buyer with an agent.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, privateKeyOf, registerIdentity } from '@referrer/contracts/local'
import { freshDatabase } from '@referrer/database/testing'
import { type Facilitator, migrations, readConfig, startFacilitator } from '@referrer/facilitator'
import { createPaymentMemory, createReferralEndpoint } from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import { freePort } from '@referrer/net/free-port'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { until } from '@referrer/service/testing'
import type { Address } from 'viem'
import { must } from '../../service/test/http/caller.ts'
import { SILENT_BOT, startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { openRecorded } from '../../service/test/http/merchants.ts'
import { sell } from '../../service/test/http/reviews.ts'
import { newcomer, type Review, write } from '../../service/test/http/town.ts'
import { connectMcp, type McpCaller } from '../../service/test/mcp/client.ts'

export const PRICE = 1_000_000n
export const MONEY = 100_000_000n

export interface Marketplace {
  m: TestMarket
  mcp: McpCaller
  facilitator: Facilitator
  facilitatorUrl: string
  shop: Server
  /** Called with every request to the shop before it is served; `false`: the shop answers 503. */
  before: ((request: IncomingMessage) => unknown) | undefined
  endpoint: string
  /** The buyer's agent. */
  agentId: number
  /** The review whose link is bought through, and one that somebody else wrote about the same product. */
  link: Review
  other: Review
  refLink: string
  /** For a signer with the buyer's key. */
  env: Record<string, string>
  balanceOf(address: Address): Promise<bigint>
  close(): Promise<void>
}

/** How its programs run, where not as usual. */
export interface MarketplaceOptions {
  /** For both programs. */
  env?: Record<string, string>
  service?: Parameters<typeof startTestMarket>[0]
  facilitator?: Parameters<typeof startFacilitator>[1]
}

export async function startMarketplace(
  chat: Record<string, string> = SILENT_BOT,
  { env = {}, service, facilitator: overrides }: MarketplaceOptions = {},
): Promise<Marketplace> {
  const facilitatorPort = await freePort()
  const m = await startTestMarket({
    ...service,
    env: {
      ...chat,
      ALLOW_PRIVATE_HOSTS: 'true',
      FACILITATOR_URL: `http://127.0.0.1:${facilitatorPort}`,
      ...env,
    },
  })
  const mcp = await connectMcp(m)
  const { buyer, stranger, settler } = m.market.accounts
  // The first one is 0, which some routes refuse.
  await registerIdentity(m.market, stranger)
  const merchantId = await openRecorded(m)
  const [{ chain }] = m.chains as [TestMarket['chains'][number]]
  const books = await freshDatabase(migrations)
  const facilitator = await startFacilitator(
    readConfig({
      DATABASE_URL: books.url,
      PORT: String(facilitatorPort),
      LOG_LEVEL: 'silent',
      MARKET_URL: m.service.url,
      ALLOW_PRIVATE_HOSTS: 'true',
      RELAYER_PRIVATE_KEYS: privateKeyOf(settler),
      WATCH_INTERVAL_MS: '20',
      CHAINS: JSON.stringify([
        {
          chainId: m.chainId,
          rpcUrls: [chain.rpcUrl],
          contracts: m.market.addresses,
          startBlock: 0,
          confirmations: 1,
          pollIntervalMs: 50,
        },
      ]),
      ...env,
    }),
    overrides,
  )
  const serve = nodeHandler(
    createReferralEndpoint({
      chainId: m.chainId,
      rpcUrl: chain.rpcUrl ?? '',
      addressRegistry: m.market.addresses.AddressRegistry,
      facilitatorUrl: facilitator.url,
      setupUrl: `${m.service.url}/.well-known/referrer-agent`,
      merchantId,
      payments: createPaymentMemory(),
      price: PRICE,
      serve: () => ({ joke: 'a good one' }),
    }),
  )
  // The market asks the shop for its price before everything is there.
  let place: Marketplace | undefined
  const shop = createServer(async (request, response) => {
    if ((await place?.before?.(request)) === false) return void response.writeHead(503).end()
    await serve(request, response)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/jokes`
  const product = await sell(m, merchantId, 1, endpoint)
  const link = await write(m, await newcomer(m), product)
  const other = await write(m, await newcomer(m), product)
  await mintUsdc(m.market, buyer.address, MONEY)
  const agentId = Number(await registerIdentity(m.market, buyer))
  await m.indexed()
  const refLink = await until(
    async () => (await must(m.call('GET', `/v1/review/${link.reviewId}`))).ref_link as string,
    'a ref link',
  )
  place = {
    m,
    mcp,
    facilitator,
    facilitatorUrl: facilitator.url,
    shop,
    before: undefined,
    endpoint,
    agentId,
    link,
    other,
    refLink,
    env: {
      AGENT_KEYS: `${agentId}:${privateKeyOf(buyer)}`,
      BASE_RPC_URL: chain.rpcUrl ?? '',
      CHAIN_ID: String(m.chainId),
      REVIEW_REGISTRY_ADDRESS: m.market.addresses.ReviewRegistry,
      COMMISSION_ESCROW_ADDRESS: m.market.addresses.CommissionEscrow,
      REFERRER_AGENT_MCP_URL: `${m.service.url}/mcp`,
      FACILITATOR_URL: facilitator.url,
      ALLOW_PRIVATE_HOSTS: 'true',
    },
    balanceOf: (address) =>
      m.market.client.readContract({
        address: m.market.addresses.USDC,
        abi: sandboxUSDCAbi,
        functionName: 'balanceOf',
        args: [address],
      }),
    async close() {
      shop.closeAllConnections()
      shop.close()
      await mcp.close()
      await facilitator.stop()
      await m.close()
      await books.drop()
    },
  }
  return place
}
