import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
} from '@referrer/protocol/abi'
import {
  type AbiEvent,
  type Address,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  toEventSelector,
} from 'viem'
import { expect, test } from 'vitest'
import { type ChainBlock, record } from './chain.ts'
import { CONTRACTS } from './contracts.ts'

const events = new Map<string, AbiEvent>()
for (const [address, abi] of [
  [CONTRACTS.identities, identityRegistryAbi],
  [CONTRACTS.merchants, merchantRegistryAbi],
  [CONTRACTS.reviews, reviewRegistryAbi],
  [CONTRACTS.escrow, commissionEscrowAbi],
] as const) {
  for (const item of abi) if (item.type === 'event') events.set(`${address}:${toEventSelector(item)}`, item)
}
const recording = record({ seed: 7, events: 16_000 })
const logs = recording.blocks.flatMap(logsOf)

test('every kind of log is what viem encodes for its event', () => {
  const kinds = new Map(logs.map((log) => [`${log.address}:${log.topics[0]}`, log]))
  const names = [...kinds.values()].map(({ address, topics, data }) => {
    const event = eventOf(address, topics[0])
    const { args: read } = decodeEventLog({
      abi: [event],
      topics: topics as [Hex, ...Hex[]],
      data,
      strict: true,
    })
    const args = read as unknown as Record<string, unknown>
    const plain = event.inputs.filter(({ indexed }) => !indexed)
    expect(data).toBe(encodeAbiParameters(plain, plain.map(({ name = '' }) => args[name]) as never))
    // What was hashed into a topic cannot be read back from it.
    const named = { ...args, indexedMetadataKey: args.metadataKey }
    expect(topics).toEqual(encodeEventTopics({ abi: [event], args: named as never }))
    return event.name
  })
  expect(names.sort()).toEqual([
    'CashbackReleased',
    'EscrowBound',
    'EscrowDeposited',
    'EscrowSettled',
    'MerchantActiveSet',
    'MerchantRoleSet',
    'MerchantSuspensionSet',
    'MetadataSet',
    'PayoutClaimed',
    'PayoutDeferred',
    'PayoutWalletSet',
    'ProductActiveSet',
    'ProductCardSet',
    'ProductListed',
    'ProductTermsSet',
    'Registered',
    'ReviewContentEdited',
    'ReviewPublished',
    'Transfer',
  ])
})

test('the same seed records the same chain, another seed another one', () => {
  const [first, again, other] = [1, 1, 2].map((seed) => record({ seed, events: 1_000 }).blocks.at(-1)?.hash)
  expect(again).toBe(first)
  expect(other).not.toBe(first)
})

test('blocks follow one another every 2 seconds with as many events as were asked for', () => {
  expect(logs).toHaveLength(16_000)
  for (const [number, block] of recording.blocks.entries()) {
    const parent = recording.blocks[number - 1]
    expect(block.number).toBe(number)
    expect(logsOf(block).map(({ logIndex }) => logIndex)).toEqual([...logsOf(block).keys()])
    if (!parent) continue
    expect(block.parentHash).toBe(parent.hash)
    expect(block.timestamp).toBe(parent.timestamp + 2)
  }
  expect(logsOf(record({ seed: 7, events: 100 }).append(50))).toHaveLength(50)
})

test("a block's bloom has the three bits of each address and topic, and an empty block's has none", () => {
  const [empty, block] = recording.blocks
  expect(BigInt(empty?.bloom ?? 1)).toBe(0n)
  let bits = 0n
  for (const { address, topics } of block ? logsOf(block) : []) {
    for (const value of [address, ...topics]) {
      const hash = BigInt(keccak256(value))
      for (const shift of [240n, 224n, 208n]) bits |= 1n << ((hash >> shift) & 2_047n)
    }
  }
  expect(BigInt(block?.bloom ?? 0)).toBe(bits)
})

test('escrows count on from one another, are acted upon after their deposit and settled at most once', () => {
  const settled = new Set<bigint>()
  let deposited = 0n
  for (const { address, topics } of logs.filter((log) => log.address === CONTRACTS.escrow)) {
    const { name, inputs } = eventOf(address, topics[0])
    if (inputs[0]?.name !== 'escrowId') continue
    const id = BigInt(topics[1] ?? 0)
    if (name === 'EscrowDeposited') expect(id).toBe(++deposited)
    else expect(id <= deposited && !settled.has(id)).toBe(true)
    if (name === 'EscrowSettled') settled.add(id)
  }
  expect(settled.size).toBeGreaterThan(500)
  expect(deposited).toBe(BigInt(recording.market.count().escrows ?? 0))
})

function logsOf({ transactions }: ChainBlock) {
  return transactions.flatMap((transaction) => transaction.logs)
}

function eventOf(address: Address, selector: Hex | undefined): AbiEvent {
  const event = events.get(`${address}:${selector}`)
  if (!event) throw new Error(`no event of ${address} has the selector ${selector}`)
  return event
}
