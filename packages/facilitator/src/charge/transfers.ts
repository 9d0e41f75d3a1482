// Reads from its logs what a transaction transferred to the router.
import { compileEvent } from '@referrer/chain'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import {
  type Address,
  getAbiItem,
  getAddress,
  type Hash,
  type Hex,
  hexToNumber,
  isAddressEqual,
  numberToHex,
  toEventSelector,
} from 'viem'
import type { Chain } from '../context.ts'
import { forNow, invalidPayment } from '../payment/refused.ts'

interface Receipt {
  status: Hex
  blockNumber: Hex
  blockHash: Hash
  logs: { address: Address; topics: [Hex, ...Hex[]]; data: Hex }[]
}

/** What one account sent to the router in a transaction. */
export interface Sent {
  payer: Address
  /** Of all its transfers together. */
  value: bigint
  /** Whether it also paid by an authorisation there: such a payment is settled, not charged. */
  hasAuthorized: boolean
}

export interface Delivery {
  txHash: Hash
  blockNumber: number
  blockHash: Hash
  sent: Sent[]
}

const transfer = getAbiItem({ abi: sandboxUSDCAbi, name: 'Transfer' })
const used = getAbiItem({ abi: sandboxUSDCAbi, name: 'AuthorizationUsed' })
const [TRANSFER, USED] = [toEventSelector(transfer), toEventSelector(used)]
const readTransfer = compileEvent(transfer)
const readUsed = compileEvent(used)

export async function readDelivery({ rpc, chainId, contracts }: Chain, txHash: Hash): Promise<Delivery> {
  const receipt = await rpc.request<Receipt | null>('eth_getTransactionReceipt', [txHash])
  if (!receipt) {
    throw forNow(
      `transaction ${txHash} is not in a block of chain ${chainId} yet: wait until it is, and ask again`,
    )
  }
  if (receipt.status !== '0x1') throw invalidPayment(`transaction ${txHash} reverted: no money moved`)
  const logs = receipt.logs.filter(({ address }) => isAddressEqual(address, contracts.USDC))
  const authorizers = new Set<string>()
  const sent = new Map<string, Sent>()
  for (const log of logs) {
    if (log.topics[0] === USED)
      authorizers.add((readUsed(log) as { authorizer: Address }).authorizer.toLowerCase())
    if (log.topics[0] !== TRANSFER) continue
    const { from, to, value } = readTransfer(log) as { from: Address; to: Address; value: bigint }
    // Anybody can make a transfer of 0 from any account.
    if (!isAddressEqual(to, contracts.SplitRouter) || value === 0n) continue
    const before = sent.get(from.toLowerCase())
    sent.set(from.toLowerCase(), {
      payer: getAddress(from),
      value: (before?.value ?? 0n) + value,
      hasAuthorized: false,
    })
  }
  return {
    txHash,
    blockNumber: hexToNumber(receipt.blockNumber),
    blockHash: receipt.blockHash,
    sent: [...sent].map(([account, each]) => ({ ...each, hasAuthorized: authorizers.has(account) })),
  }
}

/** A transfer is charged only when no reorganisation can undo it: a node has to show the block that makes it deep enough. Returns its time. */
export async function requireFinal(
  { rpc, confirmations }: Chain,
  { txHash, blockNumber, blockHash }: Delivery,
): Promise<{ timestamp: number }> {
  const blockAt = (number: number) =>
    rpc.request<{ hash: Hash; timestamp: Hex } | null>('eth_getBlockByNumber', [numberToHex(number), false])
  const [block, deep] = await Promise.all([blockAt(blockNumber), blockAt(blockNumber + confirmations - 1)])
  if (block?.hash === blockHash && deep) return { timestamp: hexToNumber(block.timestamp) }
  throw forNow(
    `transaction ${txHash} does not have ${confirmations} confirmations yet: wait a little, and ask again`,
  )
}
