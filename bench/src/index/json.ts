import { type Hex, numberToHex } from 'viem'
import { CHAIN_ID, type ChainBlock, type ChainLog, type ChainTransaction } from './chain.ts'

export type LogJson = { address: Hex; topics: readonly Hex[]; json: string }
/** A block as a node answers it, serialised once so that serving it costs next to nothing. */
export type BlockJson = { hash: Hex; light: string; full: string; logs: LogJson[] }

const ZERO_WORD: Hex = `0x${'0'.repeat(64)}`
const GAS = numberToHex(250_000)
const GAS_PRICE = numberToHex(12_000_000)
/** About what the calls carry: a purchase brings an authorization, its terms and a signature. */
const CALLDATA: Hex = `0x7c025200${'5a'.repeat(20 * 32)}`

export function serialise(block: ChainBlock): BlockJson {
  const position = { blockHash: block.hash, blockNumber: numberToHex(block.number) }
  const header = {
    number: position.blockNumber,
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: numberToHex(block.timestamp),
    logsBloom: block.bloom,
    nonce: '0x0000000000000000',
    mixHash: ZERO_WORD,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    stateRoot: ZERO_WORD,
    transactionsRoot: ZERO_WORD,
    receiptsRoot: ZERO_WORD,
    miner: '0x4200000000000000000000000000000000000011',
    difficulty: '0x0',
    totalDifficulty: '0x0',
    extraData: '0x',
    size: numberToHex(600 + block.transactions.length * 850),
    gasLimit: numberToHex(400_000_000),
    gasUsed: numberToHex(250_000 * block.transactions.length),
    baseFeePerGas: GAS_PRICE,
    uncles: [],
  }
  return {
    hash: block.hash,
    light: JSON.stringify({ ...header, transactions: block.transactions.map(({ hash }) => hash) }),
    full: JSON.stringify({
      ...header,
      transactions: block.transactions.map((transaction, index) =>
        transactionObject(transaction, index, position),
      ),
    }),
    logs: block.transactions.flatMap(({ hash, logs }) =>
      logs.map((log) => ({
        address: log.address,
        topics: log.topics,
        json: JSON.stringify(logObject(log, hash, block, position)),
      })),
    ),
  }
}

type Position = { blockHash: Hex; blockNumber: Hex }

/** With the block's time, as geth, reth, erigon and besu answer today. */
function logObject(log: ChainLog, transactionHash: Hex, block: ChainBlock, position: Position) {
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    ...position,
    blockTimestamp: numberToHex(block.timestamp),
    transactionHash,
    transactionIndex: numberToHex(log.transactionIndex),
    logIndex: numberToHex(log.logIndex),
    removed: false,
  }
}

function transactionObject({ hash, from, to }: ChainTransaction, index: number, position: Position) {
  return {
    ...position,
    hash,
    transactionIndex: numberToHex(index),
    type: '0x2',
    chainId: numberToHex(CHAIN_ID),
    nonce: '0x1',
    from,
    to,
    value: '0x0',
    gas: GAS,
    gasPrice: GAS_PRICE,
    maxFeePerGas: GAS_PRICE,
    maxPriorityFeePerGas: '0x1',
    accessList: [],
    input: CALLDATA,
    yParity: '0x0',
    v: '0x0',
    r: hash,
    s: hash,
  }
}
