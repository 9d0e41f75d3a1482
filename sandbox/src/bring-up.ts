import { existsSync } from 'node:fs'
import { buildConsole, builtDirectory } from '@referrer/console'
import { deployMarket, startLocalChain } from '@referrer/contracts/local'
import { startChat } from './chat/chat.ts'
import type { Databases } from './databases.ts'
import { DEMO_ACCOUNTS, demoAccounts, type Ids, shopOwners } from './demo/cast.ts'
import { smallPlan } from './demo/plan.ts'
import { replay } from './demo/replay.ts'
import { finishDemo, holdFollowers, loadRows } from './demo/restore.ts'
import { HISTORY_MS, readSnapshot } from './demo/snapshot.ts'
import type { Ends } from './ends.ts'
import { startFaucet } from './faucet.ts'
import { startMarketFacilitator } from './market-facilitator.ts'
import { attestationPubKey, startMarketService } from './market-service.ts'
import { registerPeople } from './people.ts'
import { HOST, type Ports } from './ports.ts'
import type { World } from './program.ts'
import type { Contents, Sandbox } from './sandbox.ts'
import { startShop } from './shop/shop.ts'
import { SHOPS } from './shop/shops.ts'

export interface BringUpOptions {
  ports: Ports
  databases: Databases
  logLevel: string
  ends: Ends
  say: (text: string) => void
  contents: Contents
  isEmbedding?: boolean
}

/** Starts everything, each part when those it needs run. */
export async function bringUp(options: BringUpOptions): Promise<Sandbox> {
  const { ports, databases, logLevel, ends, say, contents, isEmbedding = true } = options
  const snapshot = contents === 'demo' ? readSnapshot() : undefined
  const endsAt = Date.now()
  const startsAt = snapshot && new Date(endsAt - HISTORY_MS)
  const { rpcUrl, chainId, market, people } = await startChain({ ...options, startsAt })
  const shopUrl = `http://${HOST}:${ports.shop}`
  const databaseUrl = await databases.create('market')
  if (snapshot) {
    say(`replaying the ${snapshot.calls.length} transactions of the demo market`)
    await replay(market, snapshot, { endsAt })
    say('loading its records')
    await loadRows(databaseUrl, snapshot, { endsAt, shopUrl })
  }

  if (!existsSync(builtDirectory())) say('building the console')
  await buildConsole()
  say('starting the service')
  const accounts = snapshot ? demoAccounts(people, snapshot) : people
  const world: World = { rpcUrl, chainId, contracts: market.addresses, accounts, logLevel, isEmbedding }
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
  const held = snapshot && (await holdFollowers(databaseUrl, chainId))
  const { url: baseUrl } = await ends.add(
    () => startMarketService(world, { port: ports.service, databaseUrl, facilitatorUrl, faucetUrl, chat }),
    (service) => service.stop(),
  )
  await held?.end()

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
    products: snapshot ? productsOf(snapshot, shopUrl) : [],
  }
  const sandbox: Sandbox = { state, market, world, databaseUrl }
  if (contents === 'empty') return sandbox

  say('opening the shops')
  if (!snapshot) return playSmall(sandbox, options)
  const owners = shopOwners(snapshot)
  await ends.add(
    () => startShop(world, { port: ports.shop, baseUrl, facilitatorUrl, owners }),
    (shop) => shop.stop(),
  )
  say('settling the escrows that are due')
  await finishDemo({ databaseUrl, baseUrl })
  return sandbox
}

/** So little that it can be played at each start. */
async function playSmall(sandbox: Sandbox, { ports, ends, say }: BringUpOptions): Promise<Sandbox> {
  const { play } = await import('./demo/play.ts')
  const played = await play(sandbox, smallPlan(), { shopPort: ports.shop, ends, say })
  const { state } = sandbox
  const accounts = demoAccounts(state.accounts, played)
  return { ...sandbox, state: { ...state, accounts, products: productsOf(played, state.shopUrl) } }
}

const productsOf = ({ merchantIds }: Pick<Ids, 'merchantIds'>, shopUrl: string) =>
  merchantIds.flatMap((merchantId, at) =>
    (SHOPS[at]?.goods ?? []).map(({ path, productId }) => ({
      merchantId,
      productId,
      endpointUrl: `${shopUrl}${path}`,
    })),
  )

/** A chain with the market's contracts and its people. */
async function startChain({ ports, ends, say, startsAt }: BringUpOptions & { startsAt: Date | undefined }) {
  say('starting the chain')
  const { rpcUrl, chain, client } = await ends.add(
    // Buyers sign for one minute of their own clock, so the chain must keep the same time.
    () => startLocalChain({ port: ports.chain, keepsTime: true, accounts: DEMO_ACCOUNTS, startsAt }),
    (started) => started.close(),
  )
  if (!rpcUrl) throw new Error('the chain has no RPC endpoint')
  say('deploying the contracts')
  const market = await deployMarket(client)
  return { rpcUrl, chainId: chain.id, market, people: await registerPeople(market) }
}
