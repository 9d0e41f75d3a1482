import { type Hex, numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.ts'
import { createNodeCheck, type NodeCheck } from './node-check.ts'
import { createRpcPool } from './pool.ts'

const CHAIN = 84_532
const NOW = 1_800_000_000
const ROUTER = `0x${'11'.repeat(20)}` as const
const ESCROWS = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`] as const
const HASH: Hex = `0x${'ab'.repeat(32)}`

let nodes: [ScriptedNode, ScriptedNode]
let answers: Record<string, unknown>
let check: NodeCheck

beforeEach(async () => {
  answers = {
    eth_chainId: numberToHex(CHAIN),
    eth_getCode: '0x60',
    eth_getBlockByNumber: { hash: HASH, timestamp: numberToHex(NOW - 60) },
  }
  const start = () => startScriptedNode(({ method }) => ({ result: answers[method] }))
  nodes = [await start(), await start()]
  check = createNodeCheck({
    rpc: createRpcPool({ chainId: CHAIN, urls: nodes.map(({ url }) => url) }),
    contracts: { SplitRouter: ROUTER, CommissionEscrow: ESCROWS },
    maxHeadAgeSeconds: 60,
    timeoutMs: 10_000,
    clock: () => NOW * 1_000,
  })
})
afterEach(() => Promise.all(nodes.map((node) => node.close())))

const host = (node: ScriptedNode) => new URL(node.url).host
const asked = (method: string) =>
  nodes.flatMap(({ requests }) => requests.flat()).filter((call) => call.method === method)

describe('the nodes of a chain', () => {
  it('are right while they serve it, have its contracts and go on', async () => {
    expect(await check({ number: 5n, hash: HASH })).toEqual({ wrong: [], notes: [] })
  })

  it('are asked for the code of each contract until it was there once', async () => {
    answers.eth_getCode = '0x'
    const none = (address: Hex, name: string) =>
      `chain 84532 has no contract at ${address}: correct contracts.${name}, or the nodes`
    expect((await check()).wrong).toEqual([
      none(ROUTER, 'SplitRouter'),
      ...ESCROWS.map((address) => none(address, 'CommissionEscrow')),
    ])
    answers.eth_getCode = '0x60'
    expect((await check()).wrong).toEqual([])
    await check()
    expect(asked('eth_getCode')).toHaveLength(6)
  })

  it('are wrong when all that answer serve another chain, also if they served this one before', async () => {
    await check()
    answers.eth_chainId = '0x1'
    const wrong = nodes.map(
      (node) => `${host(node)} serves chain 1, not 84532: correct its URL in the chain's rpcUrls`,
    )
    expect(await check()).toEqual({ wrong, notes: [] })
    nodes[0].respond = () => ({ status: 503, body: 'down' })
    expect((await check()).wrong).toContain(wrong[1])
  })

  it('are right while one serves the chain, which alone is used; the other is told of', async () => {
    await check()
    nodes[0].answer = () => ({ result: '0x1' })
    expect(await check()).toEqual({
      wrong: [],
      notes: [expect.stringContaining(`${host(nodes[0])} serves chain 1`)],
    })
  })

  it('stay wrong while they do not answer any more', async () => {
    answers.eth_getCode = '0x'
    await check()
    for (const node of nodes) node.respond = () => ({ status: 503, body: 'down' })
    expect(await check()).toMatchObject({
      wrong: { length: 3 },
      notes: nodes.map((node) => expect.stringContaining(`${host(node)} answered eth_chainId with HTTP 503`)),
    })
  })

  it('are wrong when the newest block is older than the setting allows', async () => {
    answers.eth_getBlockByNumber = { hash: HASH, timestamp: numberToHex(NOW - 61) }
    expect((await check()).wrong).toEqual([
      'the newest block of its nodes is 61 s old: they have stopped, name others in rpcUrls',
    ])
  })

  it('are wrong when a block that is final in the records is another one there; a missing one says nothing', async () => {
    const known = { number: 5n, hash: `0x${'cd'.repeat(32)}` } as const
    expect((await check(known)).wrong).toEqual([
      expect.stringContaining('its nodes have another block 5 than the records'),
    ])
    nodes[0].answer = ({ method, params }) => ({
      result: method === 'eth_getBlockByNumber' && params?.[0] === '0x5' ? null : answers[method],
    })
    expect((await check(known)).wrong).toEqual([])
  })
})
