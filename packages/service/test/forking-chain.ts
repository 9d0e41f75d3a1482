// A real chain on which the test mines and removes blocks by hand.
import {
  deployMarket,
  type LocalChain,
  type Market,
  mintUsdc,
  startLocalChain,
} from '@referrer/contracts/local'
import { type Address, type Hex, keccak256, type LocalAccount } from 'viem'
import { type ChainEvent, fold, readEvents } from './replay.ts'
import type { World } from './world.ts'

/** A call that somebody makes. */
export interface Call {
  account: LocalAccount
  to: Address
  data: Hex
  /** Calls with a higher tip come first in their block. */
  tip?: bigint
  gas?: bigint
}

export interface SignedCall {
  from: Address
  raw: Hex
}

interface Mined {
  number: bigint
  hash: Hex
  timestamp: bigint
  calls: SignedCall[]
  events: ChainEvent[]
  snapshot: Hex
}

export interface ForkingChain {
  chainId: number
  rpcUrl: string
  market: Market
  head(): Mined
  /** The highest block number that ever existed. */
  highest(): bigint
  /** The records at the newest block. */
  world(): World
  sign(calls: Call[]): Promise<SignedCall[]>
  /** Mines one block for each call; each call must succeed. */
  send(...calls: Call[]): Promise<void>
  /** Mines one block with these calls in the order of their tips, this many seconds after its parent. */
  mine(calls?: SignedCall[], secondsLater?: bigint): Promise<void>
  /** Removes blocks and returns them. Until new ones are mined, the chain is shorter. */
  takeBack(depth: number): Promise<Mined[]>
  close(): Promise<void>
}

/** Time-out for tests that start a chain: deploying takes long on a busy machine. */
export const SLOW_START_MS = 120_000

const GAS = 2_000_000n
const FEE = 10n ** 11n

export async function startForkingChain(chainId: number, wealthy: LocalAccount[]): Promise<ForkingChain> {
  const local = await startLocalChain({ chainId, port: 0 })
  const market = await deployMarket(local.client)
  for (const { address } of wealthy) await mintUsdc(market, address, 10n ** 12n)
  await local.client.setAutomine(false)
  return forkingChain(local, market)
}

async function forkingChain({ client, rpcUrl, close }: LocalChain, market: Market): Promise<ForkingChain> {
  const chainId = client.chain.id
  const ask = <T>(method: string, params: unknown[] = []) =>
    client.request({ method, params } as never) as Promise<T>
  const nonces = new Map<Address, number>()
  const earlier = await readEvents(market, 0n, await client.getBlockNumber())
  const blocks: Mined[] = [await look([])]
  let highest = head().number

  function head(): Mined {
    const newest = blocks.at(-1)
    if (!newest) throw new Error('the first block is never taken back')
    return newest
  }

  /** The newest block with a snapshot to which the chain can be reset. */
  async function look(calls: SignedCall[]): Promise<Mined> {
    const { number, hash, timestamp, transactions } = await client.getBlock()
    if (calls.length && transactions.length !== calls.length)
      throw new Error(`block ${number} holds ${transactions.length} transactions, not ${calls.length}`)
    const events = calls.length ? await readEvents(market, number, number) : []
    return { number, hash, timestamp, calls, events, snapshot: await ask<Hex>('evm_snapshot') }
  }

  async function sign(calls: Call[]): Promise<SignedCall[]> {
    const signed: SignedCall[] = []
    for (const { account, to, data, tip = 1n, gas = GAS } of calls) {
      const from = account.address
      const nonce = nonces.get(from) ?? (await client.getTransactionCount({ address: from }))
      nonces.set(from, nonce + 1)
      const fees = { gas, maxFeePerGas: FEE, maxPriorityFeePerGas: tip }
      const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, to, data, ...fees })
      signed.push({ from, raw })
    }
    return signed
  }

  async function mine(calls: SignedCall[] = [], secondsLater = 1n): Promise<void> {
    for (const { raw } of calls) await ask('eth_sendRawTransaction', [raw])
    await client.setNextBlockTimestamp({ timestamp: head().timestamp + secondsLater })
    await client.mine({ blocks: 1 })
    blocks.push(await look(calls))
    if (head().number > highest) highest = head().number
  }

  async function send(...calls: Call[]): Promise<void> {
    for (const call of calls) {
      const [signed] = await sign([call])
      if (!signed) continue
      await mine([signed])
      const { status } = await client.getTransactionReceipt({ hash: keccak256(signed.raw) })
      if (status !== 'success') throw new Error(`the call in block ${head().number} reverted`)
    }
  }

  async function takeBack(depth: number): Promise<Mined[]> {
    const gone = blocks.splice(Math.max(1, blocks.length - depth))
    await ask('evm_revert', [head().snapshot])
    head().snapshot = await ask<Hex>('evm_snapshot')
    nonces.clear()
    return gone
  }

  if (!rpcUrl) throw new Error('a forking chain is read over HTTP')
  return {
    chainId,
    rpcUrl,
    market,
    head,
    highest: () => highest,
    world: () => fold(chainId, [...earlier, ...blocks.flatMap(({ events }) => events)]),
    sign,
    send,
    mine,
    takeBack,
    close,
  }
}
