import { type Address, type Hex, keccak256, numberToHex } from 'viem'
import { type Bloom, bloomOf } from './bloom.ts'
import { createMarket, type Market, type MarketTransaction } from './market/index.ts'
import { Random } from './random.ts'

/** Base's id, as its blocks come every 2 seconds too. */
export const CHAIN_ID = 8453
const GENESIS_TIME = 1_760_000_000
const BLOCK_SECONDS = 2
const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`

export type ChainLog = {
  address: Address
  topics: Hex[]
  data: Hex
  transactionIndex: number
  logIndex: number
}
export type ChainTransaction = { hash: Hex; from: Address; to: Address; logs: ChainLog[] }
export type ChainBlock = {
  number: number
  timestamp: number
  hash: Hex
  parentHash: Hex
  bloom: Bloom
  transactions: ChainTransaction[]
}

export type Recording = {
  readonly blocks: readonly ChainBlock[]
  readonly market: Market
  /** The next block, with exactly this many events. */
  append(events: number): ChainBlock
}

/** The same seed and number give the same chain on every machine: an empty block 0, then blocks of 20 to 60 events. */
export function record(options: { seed: number; events: number }): Recording {
  const random = new Random(options.seed)
  const market = createMarket(random)
  const blocks: ChainBlock[] = []

  function append(events: number): ChainBlock {
    const number = blocks.length
    const timestamp = GENESIS_TIME + number * BLOCK_SECONDS
    const transactions: MarketTransaction[] = []
    for (let room = events; room > 0; ) {
      const transaction = market.next(timestamp, room)
      transactions.push(transaction)
      room -= transaction.logs.length
    }
    const block = mine(number, timestamp, blocks.at(-1)?.hash ?? ZERO_HASH, transactions)
    blocks.push(block)
    return block
  }

  append(0)
  for (let left = options.events; left > 0; ) {
    const events = Math.min(left, random.between(20, 60))
    append(events)
    left -= events
  }
  return { blocks, market, append }
}

function mine(number: number, timestamp: number, parentHash: Hex, mined: MarketTransaction[]): ChainBlock {
  let logIndex = 0
  const transactions = mined.map(({ from, logs: [first, ...others] }, transactionIndex): ChainTransaction => {
    if (!first) throw new Error('a transaction of the market has at least one event')
    const logs = [first, ...others].map((log) => ({ ...log, transactionIndex, logIndex: logIndex++ }))
    const hash = keccak256(`${parentHash}${numberToHex(transactionIndex, { size: 4 }).slice(2)}`)
    return { hash, from, to: first.address, logs }
  })
  const contents = transactions.flatMap(({ logs }) => logs.flatMap(({ topics, data }) => [...topics, data]))
  const header = [
    parentHash,
    numberToHex(number, { size: 8 }),
    numberToHex(timestamp, { size: 8 }),
    ...contents,
  ]
  return {
    number,
    timestamp,
    hash: keccak256(`0x${header.map((part) => part.slice(2)).join('')}`),
    parentHash,
    bloom: bloomOf(transactions.flatMap(({ logs }) => logs)),
    transactions,
  }
}
