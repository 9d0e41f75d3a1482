import { deployMarket, type Market, startLocalChain } from '@referrer/contracts/local'
import { startChat } from './chat/chat.ts'
import type { Databases } from './databases.ts'
import { DEMO_ACCOUNTS, demoAccounts, shopOwners } from './demo/cast.ts'
import { replay } from './demo/replay.ts'
import { finishDemo, loadRows } from './demo/restore.ts'
import { HISTORY_MS, readSnapshot } from './demo/snapshot.ts'
import type { Ends } from './ends.ts'
import { startFaucet } from './faucet.ts'
import { startMarketFacilitator } from './market-facilitator.ts'
import { attestationPubKey, startMarketService } from './market-service.ts'
import { registerPeople } from './people.ts'
import { HOST, type Ports } from './ports.ts'
import type { World } from './program.ts'
import { startShop } from './shop/shop.ts'
import { SHOPS } from './shop/shops.ts'
import type { SandboxAccount, SandboxState } from './state.ts'

export interface BringUpOptions {
  ports: Ports
  databases: Databases
  logLevel: string
  ends: Ends
  say: (text: string) => void
  /** No shops, products and reviews. */
  isEmpty: boolean
}

export interface Sandbox {
  state: SandboxState
  market: Market
  world: World
  databaseUrl: string
}

/** Starts everything, each part when those it needs run. */
export async function bringUp(options: BringUpOptions): Promise<Sandbox> {
  const { ports, databases, logLevel, ends, say, isEmpty } = options
  const snapshot = isEmpty ? undefined : readSnapshot()
  const endsAt = Date.now()
  const { rpcUrl, chainId, market, people } = await startChain({ ...options, endsAt })
  const accounts: SandboxAccount[] = snapshot ? demoAccounts(people, snapshot) : people
  const shopUrl = `http://${HOST}:${ports.shop}`
  const databaseUrl = await databases.create('market')
  if (snapshot) {
    say(`replaying ${snapshot.calls.length} transactions of the demo market`)
    await replay(market, snapshot, { endsAt })
    await loadRows(databaseUrl, snapshot, { endsAt, shopUrl })
  }

  say('starting the service')
  const world: World = { rpcUrl, chainId, contracts: market.addresses, accounts, logLevel }
  const facilitatorUrl = `http://${HOST}:${ports.facilitator}`
  const serviceUrl = `http://${HOST}:${ports.service}`
  const chat = await ends.add(
    () => startChat({ port: ports.chat, serviceUrl, rpcUrl, accounts }),
    ({ close }) => close(),
  )
  const { url: faucetUrl } = await ends.add(
    () => startFaucet({ market, port: ports.faucet }),
    (faucet) => faucet.close(),
  )
  const { url: baseUrl } = await ends.add(
    async () =>
      startMarketService(world, { port: ports.service, databaseUrl, facilitatorUrl, faucetUrl, chat }),
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

  if (snapshot) {
    say('opening the shops')
    const owners = shopOwners(snapshot)
    await ends.add(
      () => startShop(world, { port: ports.shop, baseUrl, facilitatorUrl, owners }),
      (shop) => shop.stop(),
    )
    say('settling what is due')
    await finishDemo({ databaseUrl, baseUrl })
  }
  const state = {
    baseUrl,
    mcpUrl: `${baseUrl}/mcp`,
    facilitatorUrl,
    shopUrl,
    chatUrl: chat.url,
    faucetUrl,
    rpcUrl,
    chainId,
    contracts: market.addresses,
    attestationPubKey: await attestationPubKey(),
    accounts,
    products: snapshot ? productsOf(shopOwners(snapshot), shopUrl) : [],
  }
  return { state, market, world, databaseUrl }
}

const productsOf = (owners: ReturnType<typeof shopOwners>, shopUrl: string) =>
  SHOPS.flatMap(({ goods }, at) =>
    goods.map(({ path, productId }) => ({
      merchantId: owners[at]?.merchantId ?? 0,
      productId,
      endpointUrl: `${shopUrl}${path}`,
    })),
  )

/** A chain with the market's contracts and its people. */
async function startChain({
  ports,
  ends,
  say,
  isEmpty,
  endsAt,
}: Pick<BringUpOptions, 'ports' | 'ends' | 'say' | 'isEmpty'> & { endsAt: number }) {
  say('starting the chain')
  const time = isEmpty ? {} : { startsAt: new Date(endsAt - HISTORY_MS) }
  const { rpcUrl, chain, client } = await ends.add(
    // Buyers sign for one minute of their own clock, so the chain must keep the same time.
    () => startLocalChain({ port: ports.chain, keepsTime: true, accounts: DEMO_ACCOUNTS, ...time }),
    (started) => started.close(),
  )
  if (!rpcUrl) throw new Error('the chain has no RPC endpoint')
  say('deploying the contracts')
  const market = await deployMarket(client)
  return { rpcUrl, chainId: chain.id, market, people: await registerPeople(market) }
}
