import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import type { NetworkConnection, NetworkConnectionParams, NetworkManager } from 'hardhat/types/network'
import {
  type Chain,
  type Client,
  createTestClient,
  custom,
  defineChain,
  type PublicActions,
  publicActions,
  type TestActions,
  type Transport,
  type WalletActions,
  walletActions,
} from 'viem'
import { CREATE2_FACTORY } from '../deploy/plan.ts'
import { developmentAccount, privateKeyOf } from './accounts.ts'
import { readingInProcess } from './in-process.ts'

const PROJECT_ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Runtime code of the CREATE2 factory that public networks have. */
const CREATE2_FACTORY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
/** What a development account has to spend, in wei. */
const GAS = 10_000n * 10n ** 18n
/** Requests from before a chain is closed get this time to be answered; later ones fail. */
const LAST_ANSWERS_MS = 500

export interface LocalChainOptions {
  chainId?: number
  /** Serve JSON-RPC over HTTP and WebSocket on this port of the loopback address; left out: in process only. */
  port?: number
  /** Milliseconds between blocks; left out: a block per transaction. */
  blockTime?: number
  /** Blocks of one second have the same time; left out: each is later than the one before, so a busy chain runs ahead of the clock. */
  keepsTime?: boolean
  /** The time of the first block; left out: now. */
  startsAt?: Date | undefined
  /** How many development accounts have gas, and their keys on the node; left out: 20. */
  accounts?: number
}

/** Reads, writes and time travel on a local chain. */
export type LocalClient = Client<
  Transport,
  Chain,
  undefined,
  undefined,
  PublicActions & WalletActions<Chain> & TestActions
>

export interface LocalChain {
  chain: Chain
  /** Undefined when the chain is in process only. */
  rpcUrl: string | undefined
  client: LocalClient
  /** `fetch` for whoever runs in this process and asks this chain by its URL: reads are answered without HTTP, which costs a fraction. */
  fetch: typeof fetch
  close(): Promise<void>
}

/** A real EVM on this machine, with time travel, and the CREATE2 factory of public networks. */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const chainId = options.chainId ?? 31_337
  // Without our artifacts: reading them would take most of a start, and a chain needs none.
  const { network, hooks } = await createHardhatRuntimeEnvironment(
    { paths: { artifacts: 'none' } },
    {},
    PROJECT_ROOT,
  )
  const params = {
    override: {
      chainId,
      allowBlocksWithSameTimestamp: options.keepsTime ?? false,
      mining: options.blockTime ? { auto: false, interval: options.blockTime } : { auto: true },
      ...(options.startsAt && { initialDate: options.startsAt }),
      ...(options.accounts && { accounts: heldAccounts(options.accounts) }),
    },
  }
  const connection = await network.create(params)
  // Hardhat's server would open a connection of its own: it gets ours, so that others reach this chain over HTTP while our client calls it in
  // process, which costs a fraction.
  hooks.registerHandlers('network', {
    newConnection: async <T extends string>() => connection as unknown as NetworkConnection<T>,
  })
  const server = options.port === undefined ? undefined : await listen(network, params, options.port)
  const rpcUrl = server?.url

  const chain = defineChain({
    id: chainId,
    name: 'sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: rpcUrl ? [rpcUrl] : [] } },
  })
  const transport = custom(connection.provider, { retryCount: 0 })
  const client = createTestClient({ mode: 'hardhat', chain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  await client.setCode({ address: CREATE2_FACTORY, bytecode: CREATE2_FACTORY_CODE })
  return {
    chain,
    rpcUrl,
    client,
    fetch: readingInProcess(connection.provider),
    async close() {
      await server?.close()
      await connection.close()
    },
  }
}

const heldAccounts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    privateKey: privateKeyOf(developmentAccount(index)),
    balance: GAS,
  }))

async function listen(network: NetworkManager, params: NetworkConnectionParams, port: number) {
  const server = await network.createServer(params, '127.0.0.1', port)
  const { address, port: bound } = await server.listen()
  // It stops listening at once but waits for every open connection, and a busy one may never end.
  const close = () => Promise.race([server.close(), sleep(LAST_ANSWERS_MS, undefined, { ref: false })])
  return { url: `http://${address}:${bound}`, close }
}
