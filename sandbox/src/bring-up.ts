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
import { CHAIN_OPTIONS } from './settings.ts'
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
  /** A build of the console that has begun; left out: the service builds it. */
  builtConsole?: Promise<unknown>
}

/** Starts everything, each part when those it needs run. */
export async function bringUp(options: BringUpOptions): Promise<Sandbox> {
  const { ports, databases, logLevel, ends, say, contents, isEmbedding = true } = options
  const snapshot = contents === 'demo' ? readSnapshot() : undefined
  const endsAt = Date.now()
  const startsAt = snapshot && new Date(endsAt - HISTORY_MS)
  const { rpcUrl, chainId, market, people } = await startChain(options, { port: ports.chain, startsAt })
  const second = ports.second && {
    ...(await startChain(options, { port: ports.second.chain, chainId: SECOND_CHAIN })),
    shopPort: ports.second.shop,
  }
  const shopUrl = `http://${HOST}:${ports.shop}`
  const databaseUrl = await databases.create('market')
  if (snapshot) {
    say(`replaying the ${snapshot.calls.length} transactions of the demo market`)
    await replay(market, snapshot, { endsAt })
    say('loading its records')
    await loadRows(databaseUrl, snapshot, { endsAt, shopUrl })
  }

  await options.builtConsole
  say('starting the service')
  const accounts = snapshot ? demoAccounts(people, snapshot) : people
  const world: World = {
    ...{ rpcUrl, chainId, contracts: market.addresses, accounts, logLevel, isEmbedding },
    second: second && { ...second, contracts: second.market.addresses },
  }
  const facilitatorUrl = `http://${HOST}:${ports.facilitator}`
  const serviceUrl = `http://${HOST}:${ports.service}`
  const chat = await ends.add(
    () => startChat({ port: ports.chat, serviceUrl, rpcUrl, accounts }),
    ({ close }) => close(),
  )
  const { url: faucetUrl } = await ends.add(
    () => startFaucet({ markets: second ? [market, second.market] : [market], port: ports.faucet }),
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
    attestationPubKey: await attestationPubKey(0),
    accounts,
    products: snapshot ? productsOf(snapshot, shopUrl) : [],
  }
  const first: Sandbox = { state, market, world, databaseUrl }
  const sandbox = second ? await openSecond(first, second, options) : first
  if (contents === 'empty') return sandbox

  say('opening the shops')
  if (!snapshot) return playSmall(sandbox, ports.shop, options)
  const owners = shopOwners(snapshot)
  await ends.add(
    () => startShop(world, { port: ports.shop, baseUrl, facilitatorUrl, owners }),
    (shop) => shop.stop(),
  )
  say('settling the escrows that are due')
  await finishDemo({ databaseUrl, baseUrl })
  return sandbox
}

/** The small market, or nothing but the accounts. Ids and addresses are those of the first chain, so that mixing them up shows. */
async function openSecond(
  first: Sandbox,
  { rpcUrl, chainId, market, people, shopPort }: Started & { shopPort: number },
  options: BringUpOptions,
): Promise<Sandbox> {
  const { contents, say } = options
  const own = {
    ...{ chainId, rpcUrl, shopUrl: `http://${HOST}:${shopPort}`, contracts: market.addresses },
    attestationPubKey: await attestationPubKey(1),
  }
  const world = { ...first.world, ...own, accounts: people, second: undefined }
  let sandbox: Sandbox = {
    ...{ ...first, market, world },
    state: { ...first.state, ...own, accounts: people, products: [] },
  }
  if (contents !== 'empty') {
    say(`opening the shop on chain ${chainId}`)
    sandbox = await playSmall(sandbox, shopPort, options)
  }
  const { accounts, products } = sandbox.state
  return { ...first, state: { ...first.state, secondChain: { ...own, accounts, products } } }
}

/** So little that it can be played at each start. */
async function playSmall(
  sandbox: Sandbox,
  shopPort: number,
  { ends, say }: BringUpOptions,
): Promise<Sandbox> {
  const { play } = await import('./demo/play.ts')
  const played = await play(sandbox, smallPlan(), { shopPort, ends, say })
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

/** Everybody knows it for a chain of one machine, as the first one's. */
const SECOND_CHAIN = 1_337

type Started = Awaited<ReturnType<typeof startChain>>

/** A chain with the market's contracts and its people. */
async function startChain(
  { ends, say }: BringUpOptions,
  place: { port: number; chainId?: number; startsAt?: Date | undefined },
) {
  say(place.chainId === undefined ? 'starting the chain' : `starting chain ${place.chainId}`)
  const { rpcUrl, chain, client } = await ends.add(
    () => startLocalChain({ ...place, ...CHAIN_OPTIONS, accounts: DEMO_ACCOUNTS }),
    (started) => started.close(),
  )
  if (!rpcUrl) throw new Error('the chain has no RPC endpoint')
  say('deploying the contracts')
  const market = await deployMarket(client)
  return { rpcUrl, chainId: chain.id, market, people: await registerPeople(market) }
}
