import { deployMarket, startLocalChain } from '@referrer/contracts/local'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { startChat } from './chat/chat.ts'
import type { Databases } from './databases.ts'
import { fillMarket } from './demo-data.ts'
import type { Ends } from './ends.ts'
import { startFaucet } from './faucet.ts'
import { startMarketFacilitator } from './market-facilitator.ts'
import { attestationPubKey, startMarketService } from './market-service.ts'
import { registerPeople } from './people.ts'
import { HOST, type Ports } from './ports.ts'
import type { World } from './program.ts'
import { GOODS } from './shop/goods.ts'
import { startShop } from './shop/shop.ts'
import { stockShop } from './shop/stock.ts'
import type { SandboxState } from './state.ts'

export interface BringUpOptions {
  ports: Ports
  databases: Databases
  logLevel: string
  ends: Ends
  say: (text: string) => void
}

/** Starts everything, each part when those it needs run. */
export async function bringUp({
  ports,
  databases,
  logLevel,
  ends,
  say,
}: BringUpOptions): Promise<SandboxState> {
  const { local, market, people, signingKey } = await startChain({ ports, ends, say })

  say('starting the service')
  const { accounts } = people
  const chain = { rpcUrl: local.rpcUrl, chainId: local.chain.id, contracts: market.addresses, accounts }
  const world: World = { ...chain, logLevel }
  const facilitatorUrl = `http://${HOST}:${ports.facilitator}`
  const serviceUrl = `http://${HOST}:${ports.service}`
  const chat = await ends.add(
    () => startChat({ port: ports.chat, serviceUrl, rpcUrl: local.rpcUrl, accounts }),
    ({ close }) => close(),
  )
  const { url: faucetUrl } = await ends.add(
    () => startFaucet({ market, port: ports.faucet }),
    (faucet) => faucet.close(),
  )
  const { url: baseUrl } = await ends.add(
    async () =>
      startMarketService(world, {
        port: ports.service,
        databaseUrl: await databases.create('market'),
        facilitatorUrl,
        faucetUrl,
        chat,
      }),
    (service) => service.stop(),
  )

  say('starting the facilitator')
  await ends.add(
    async () =>
      startMarketFacilitator(world, {
        port: ports.facilitator,
        databaseUrl: await databases.create('facilitator'),
        marketUrl: baseUrl,
      }),
    (facilitator) => facilitator.stop(),
  )

  say('opening the shop')
  const merchantId = Number(people.merchantId)
  const { url: shopUrl } = await ends.add(
    () => startShop(world, { port: ports.shop, merchantId, baseUrl, facilitatorUrl, signingKey }),
    (shop) => shop.stop(),
  )
  say('publishing the demo reviews')
  await fillMarket({ market, people, baseUrl, shopUrl })

  const products = GOODS.map(({ path, productId }) => ({
    merchantId,
    productId,
    endpointUrl: `${shopUrl}${path}`,
  }))
  const { rpcUrl, chainId, contracts } = chain
  return {
    baseUrl,
    mcpUrl: `${baseUrl}/mcp`,
    facilitatorUrl,
    shopUrl,
    chatUrl: chat.url,
    faucetUrl,
    rpcUrl,
    chainId,
    contracts,
    attestationPubKey: await attestationPubKey(),
    accounts,
    products,
  }
}

/** A chain with the market's contracts, its people, and the shop's products. */
async function startChain({ ports, ends, say }: Pick<BringUpOptions, 'ports' | 'ends' | 'say'>) {
  say('starting the chain')
  const { rpcUrl, ...local } = await ends.add(
    // Buyers sign for one minute of their own clock, so the chain must keep the same time.
    () => startLocalChain({ port: ports.chain, keepsTime: true }),
    (chain) => chain.close(),
  )
  if (!rpcUrl) throw new Error('the chain has no RPC endpoint')
  say('deploying the contracts')
  const market = await deployMarket(local.client)
  const people = await registerPeople(market)
  // The shop's server holds this key and not the owner's: whoever steals it can ask for payments, and nothing else.
  const signingKey = generatePrivateKey()
  await stockShop(market, people.merchantId, privateKeyToAddress(signingKey))
  return { local: { ...local, rpcUrl }, market, people, signingKey }
}
