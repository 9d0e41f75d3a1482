import { fileURLToPath } from 'node:url'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import type { HardhatRuntimeEnvironment } from 'hardhat/types/hre'
import type { NetworkConnection, NetworkConnectionParams } from 'hardhat/types/network'
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
import hardhatConfig from '../hardhat.config.ts'

const PROJECT_ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Runtime code of the CREATE2 factory that public networks have. */
const CREATE2_FACTORY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'

export interface LocalChainOptions {
  chainId?: number
  /** Serve JSON-RPC over HTTP and WebSocket on this port of the loopback address; left out: in process only. */
  port?: number
  /** Milliseconds between blocks; left out: a block per transaction. */
  blockTime?: number
  /** Blocks of one second have the same time; left out: each is later than the one before, so a busy chain runs ahead of the clock. */
  keepsTime?: boolean
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
  close(): Promise<void>
}

const environment = () => createHardhatRuntimeEnvironment(hardhatConfig, {}, PROJECT_ROOT)

let shared: Promise<HardhatRuntimeEnvironment> | undefined

/** With its first chain it reads all that was compiled, and keeps it: one for all chains of the process. */
function hardhat(): Promise<HardhatRuntimeEnvironment> {
  shared ??= environment()
  return shared
}

/** Compiles what has changed; the first time takes about a minute. */
export async function compileContracts(): Promise<void> {
  const { tasks } = await hardhat()
  await tasks.getTask('build').run({ quiet: true, noTests: true })
}

/** A real EVM on this machine, with time travel, and the CREATE2 factory of public networks. */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const chainId = options.chainId ?? 31_337
  const { network } = await hardhat()
  const params = {
    override: {
      chainId,
      allowBlocksWithSameTimestamp: options.keepsTime ?? false,
      mining: options.blockTime ? { auto: false, interval: options.blockTime } : { auto: true },
    },
  }
  const connection = await network.create(params)
  const server = options.port === undefined ? undefined : await serve(connection, params, options.port)
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
    async close() {
      await server?.close()
      await connection.close()
    },
  }
}

/** For others: our own client asks the chain itself, which costs a fraction. */
async function serve(connection: NetworkConnection, params: NetworkConnectionParams, port: number) {
  const { network, hooks } = await environment()
  // Hardhat serves only what it connects to, so it is given this connection as a new one.
  hooks.registerHandlers('network', {
    newConnection: async <T extends string>() => connection as unknown as NetworkConnection<T>,
  })
  const server = await network.createServer(params, '127.0.0.1', port)
  const bound = await server.listen()
  return { url: `http://${bound.address}:${bound.port}`, close: () => server.close() }
}
