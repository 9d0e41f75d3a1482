// The market, its chain and the shop's owner, checked before anything is done.
import { createReferrerClient, type ReferrerClient } from '@referrer/client'
import {
  askFaucet,
  type Deployment,
  NETWORKS,
  type Network,
  networkNamed,
  readDeployment,
} from '@referrer/client/chain'
import {
  type Chain,
  createPublicClient,
  createWalletClient,
  defineChain,
  formatEther,
  http,
  type PrivateKeyAccount,
  type PublicClient,
  parseEther,
  type Transport,
  type WalletClient,
} from 'viem'
import { type Project, readProject } from './project.ts'
import { type Reporter, ShopError } from './report.ts'

export interface Shop {
  network: Network
  rpcUrl: string
  deployment: Deployment
  client: PublicClient
  wallet: WalletClient<Transport, Chain, PrivateKeyAccount>
  owner: PrivateKeyAccount
  /** Requests are signed by the owner. */
  market: ReferrerClient
  project: Project
  reporter: Reporter
}

export interface Place {
  network: Network
  marketUrl: string
  rpcUrl: string
}

/** Where the shop is: flags first, then the project file, then what is known of the network. */
export function placeOf(
  { data }: Project,
  given: { network?: string | undefined; market?: string | undefined; rpc?: string | undefined },
): Place {
  const asked = given.network ?? data.network ?? 'sandbox'
  const network = networkNamed(asked)
  if (!network) {
    throw new ShopError(
      `--network must be ${Object.keys(NETWORKS).join(', ')} or the id of another chain, not "${asked}"`,
    )
  }
  const { name } = network
  if (data.merchantId !== undefined && data.network !== undefined && data.network !== name) {
    throw new ShopError(
      `the shop of this folder is on ${data.network}, not on ${name}: use another folder for another network`,
    )
  }
  const marketUrl = given.market ?? data.market ?? network.marketUrl
  if (marketUrl === undefined) throw new ShopError(`say which market on ${name}: --market <URL>`)
  const rpcUrl = given.rpc ?? data.rpc ?? network.rpcUrl
  if (rpcUrl === undefined) throw new ShopError(`say which node of chain ${name}: --rpc <URL>`)
  return { network, marketUrl, rpcUrl }
}

export async function connectShop(
  place: Place,
  { directory, owner, reporter }: { directory: string; owner: PrivateKeyAccount; reporter: Reporter },
): Promise<Shop> {
  const project = readProject(directory)
  const { network, marketUrl, rpcUrl } = place
  const transport = http(rpcUrl)
  const chain = defineChain({
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const pollingInterval = network.isSandbox ? 100 : 1_000
  const client = createPublicClient({ chain, transport, pollingInterval, cacheTime: 0 })
  await requireChain(client, place)
  const { addressRegistry } = project.data
  const deployment = await reporter.during(
    `reading the market at ${marketUrl}`,
    readDeployment(client, { marketUrl, addressRegistry }),
  )
  return {
    network,
    rpcUrl,
    deployment,
    client,
    wallet: createWalletClient({ account: owner, chain, transport }),
    owner,
    market: createReferrerClient({ url: deployment.marketUrl, account: owner, chainId: deployment.chainId }),
    project,
    reporter,
  }
}

async function requireChain(client: PublicClient, { network, rpcUrl }: Place): Promise<void> {
  const chainId = await client.getChainId().catch((error: unknown) => {
    const next = network.isSandbox
      ? 'start the sandbox with npm start, or name another node with --rpc and its market with --market'
      : 'name another one with --rpc'
    throw new ShopError(`no node answers at ${rpcUrl}: ${next}`, { cause: error })
  })
  if (chainId !== network.chainId) {
    throw new ShopError(
      `the node at ${rpcUrl} serves chain ${chainId}, and ${network.name} is chain ${network.chainId}: name a node of it with --rpc`,
    )
  }
}

/** Enough for opening a shop with some products, many times over. */
const GAS = parseEther('0.0005')

/** The faucet of a sandbox gives gas. Elsewhere the owner sends some: the message says where and how much. */
export async function requireGas({ network, client, owner, deployment, reporter }: Shop): Promise<void> {
  const balance = await client.getBalance({ address: owner.address })
  if (balance >= GAS) return
  const { faucetUrl } = deployment
  if (network.isSandbox && faucetUrl !== undefined) {
    const { eth } = await reporter.during('asking the faucet', askFaucet(faucetUrl, owner.address))
    reporter.step({
      name: 'gas',
      changed: true,
      text: `the faucet gave ${formatEther(eth)} ETH to ${owner.address}`,
    })
    return
  }
  throw new ShopError(
    `${owner.address} has ${formatEther(balance)} ETH on ${network.name}: send it ${formatEther(GAS)} ETH for gas, then run this again`,
  )
}
