import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainBlock, record } from './chain.ts'
import { CONTRACTS } from './contracts.ts'
import { type RecordedNode, startNode } from './node.ts'

const options = { seed: 3, events: 500 }
const recording = record(options)
let directory: string
let node: RecordedNode

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-node-'))
  node = await startNode({ ...options, logFile: join(directory, 'node.log') })
})

afterAll(async () => {
  await node.process.stop()
  await rm(directory, { recursive: true })
})

test('a block is found by number, by hash and as the latest, with transactions or their hashes', async () => {
  const latest = blockAt(recording.blocks.length - 1)
  const [byNumber, byHash, byTag, unknown] = await ask([
    ['eth_getBlockByNumber', numberToHex(latest.number), true],
    ['eth_getBlockByHash', latest.hash, true],
    ['eth_getBlockByNumber', 'latest', false],
    ['eth_getBlockByNumber', numberToHex(latest.number + 1), false],
  ])
  expect(byNumber).toMatchObject({
    hash: latest.hash,
    parentHash: latest.parentHash,
    logsBloom: latest.bloom,
  })
  expect(byHash).toEqual(byNumber)
  expect(byTag).toMatchObject({
    hash: latest.hash,
    transactions: latest.transactions.map(({ hash }) => hash),
  })
  expect(unknown).toBeNull()
})

test('logs are found by range, by block, by address and by topics, and by nothing else', async () => {
  const block = blockAt(10)
  const log = logsOf(block).find(({ address }) => address === CONTRACTS.escrow)
  const range = { fromBlock: numberToHex(9), toBlock: numberToHex(10) }
  const [all, ofBlock, ofContract, ofEvent, ofNobody] = await ask([
    ['eth_getLogs', range],
    ['eth_getLogs', { blockHash: block.hash }],
    ['eth_getLogs', { ...range, address: [CONTRACTS.escrow.toUpperCase().replace('X', 'x')] }],
    ['eth_getLogs', { ...range, topics: [[log?.topics[0]], null] }],
    ['eth_getLogs', { ...range, topics: [null, log?.topics[0]] }],
  ])
  const both = [blockAt(9), block].flatMap(logsOf)
  expect(log).toBeDefined()
  expect(summary(all)).toEqual(both.map(({ topics, data }) => ({ topics, data })))
  expect(summary(ofBlock)).toEqual(logsOf(block).map(({ topics, data }) => ({ topics, data })))
  expect(summary(ofContract)).toHaveLength(both.filter(({ address }) => address === CONTRACTS.escrow).length)
  expect(summary(ofEvent)).toHaveLength(both.filter(({ topics }) => topics[0] === log?.topics[0]).length)
  expect(ofNobody).toEqual([])
})

test('an unknown method is refused as a node refuses it', async () => {
  const answer = await post({ id: 7, method: 'eth_mine', params: [] })
  expect(answer).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32601, message: 'the method eth_mine does not exist' },
  })
})

test('a live block becomes the head, on top of the one before and with as many events as were asked for', async () => {
  const before = await node.state()
  const { number, counts } = await node.append(50)
  const [block, logs] = await ask([
    ['eth_getBlockByNumber', 'latest', false],
    ['eth_getLogs', { fromBlock: numberToHex(number), toBlock: numberToHex(number) }],
  ])
  const mined = recording.append(50)
  expect(number).toBe(before.head + 1)
  expect(block).toMatchObject({
    number: numberToHex(number),
    hash: mined.hash,
    parentHash: blockAt(number - 1).hash,
  })
  expect(summary(logs)).toHaveLength(50)
  expect(counts).toEqual(recording.market.count())
})

async function ask(calls: [method: string, ...params: unknown[]][]): Promise<unknown[]> {
  const answers = await post(calls.map(([method, ...params], id) => ({ id, method, params })))
  return (answers as { result: unknown }[]).map(({ result }) => result)
}

async function post(body: unknown): Promise<unknown> {
  const answer = await fetch(node.url, { method: 'POST', body: JSON.stringify(body) })
  return answer.json()
}

function summary(logs: unknown): { topics: string[]; data: string }[] {
  return (logs as { topics: string[]; data: string }[]).map(({ topics, data }) => ({ topics, data }))
}

function blockAt(number: number): ChainBlock {
  const block = recording.blocks[number]
  if (!block) throw new Error(`no block ${number}`)
  return block
}

function logsOf({ transactions }: ChainBlock) {
  return transactions.flatMap((transaction) => transaction.logs)
}
