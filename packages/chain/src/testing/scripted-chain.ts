import { type Address, type Hex, hexToBigInt, keccak256, numberToHex, toHex } from 'viem'
import type { Answer, Call } from './node-faults.ts'

export interface ScriptedLog {
  address: Address
  topics: Hex[]
  data: Hex
}

export interface ScriptedBlock {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex
  logs: ScriptedLog[]
}

interface Filter {
  address: Address[]
  topics: [Hex[]]
  fromBlock?: Hex
  toBlock?: Hex
  blockHash?: Hex
}

const EMPTY_BLOOM = numberToHex(0, { size: 256 })
/** Promises everything, as the bloom filter of a very full block would. */
const FULL_BLOOM: Hex = `0x${'ff'.repeat(256)}`
const SECONDS_PER_BLOCK = 2
const FIRST_TIME = 1_700_000_000

let everMade = 0

/** Blocks without an EVM: mined, dropped and forked as a test says, and read as a node would read them. */
export class ScriptedChain {
  readonly chainId: number
  readonly blocks: ScriptedBlock[]
  /** Whether logs tell the time of their block; not all nodes' do. */
  logsHaveTimes = true

  constructor(chainId: number, blocks: ScriptedBlock[] = []) {
    this.chainId = chainId
    this.blocks = [...blocks]
    if (blocks.length === 0) this.mine()
  }

  get head(): ScriptedBlock {
    const newest = this.blocks.at(-1)
    if (!newest) throw new Error('a chain has at least its first block')
    return newest
  }

  mine(...logs: ScriptedLog[]): ScriptedBlock {
    const number = this.blocks.length
    everMade += 1
    const block = {
      number: numberToHex(number),
      hash: keccak256(toHex(`block ${everMade}`)),
      parentHash: this.blocks.at(-1)?.hash ?? numberToHex(0, { size: 32 }),
      timestamp: numberToHex(FIRST_TIME + number * SECONDS_PER_BLOCK),
      logsBloom: logs.length ? FULL_BLOOM : EMPTY_BLOOM,
      logs,
    }
    this.blocks.push(block)
    return block
  }

  mineMany(count: number): void {
    for (let at = 0; at < count; at += 1) this.mine()
  }

  /** A chain of its own with the same blocks up to this number. */
  fork(newest: number): ScriptedChain {
    return new ScriptedChain(this.chainId, this.blocks.slice(0, newest + 1))
  }

  /** As an honest node that has exactly these blocks. */
  answer({ method, params = [] }: Call): Answer {
    switch (method) {
      case 'eth_chainId':
        return { result: numberToHex(this.chainId) }
      case 'eth_getBlockByNumber':
        return { result: header(params[0] === 'latest' ? this.head : this.blocks[Number(params[0])]) }
      case 'eth_getBlockByHash':
        return { result: header(this.blocks.find(({ hash }) => hash === params[0])) }
      case 'eth_getLogs':
        return this.#logs(params[0] as Filter)
      default:
        return { error: { code: -32601, message: `the method ${method} does not exist` } }
    }
  }

  #logs({ address, topics: [events], blockHash, fromBlock, toBlock }: Filter): Answer {
    const isAsked = (block: ScriptedBlock) =>
      blockHash
        ? block.hash === blockHash
        : hexToBigInt(block.number) >= hexToBigInt(fromBlock ?? '0x0') &&
          hexToBigInt(block.number) <= hexToBigInt(toBlock ?? this.head.number)
    const asked = this.blocks.filter(isAsked)
    if (blockHash && asked.length === 0) return { error: { code: -32000, message: 'unknown block' } }
    const result = asked.flatMap((block) =>
      block.logs.map((log, at) => ({
        ...log,
        blockNumber: block.number,
        blockHash: block.hash,
        ...(this.logsHaveTimes ? { blockTimestamp: block.timestamp } : {}),
        transactionHash: keccak256(block.hash),
        transactionIndex: '0x0',
        logIndex: numberToHex(at),
        removed: false,
      })),
    )
    return {
      result: result.filter((log) => address.includes(log.address) && events.includes(log.topics[0] ?? '0x')),
    }
  }
}

function header(block: ScriptedBlock | undefined): Omit<ScriptedBlock, 'logs'> | null {
  if (!block) return null
  const { logs, ...rest } = block
  return rest
}
