// What a transaction paid, from its logs.
import { compileEvent } from '@referrer/chain'
import {
  type Address,
  erc20Abi,
  getAbiItem,
  type Hash,
  type Hex,
  hexToNumber,
  isAddressEqual,
  numberToHex,
  toEventSelector,
} from 'viem'
import type { Chain } from '../../kit/context.ts'
import { NotNow, Unproven } from './verdict.ts'

interface TransactionReceipt {
  status: Hex
  blockNumber: Hex
  blockHash: Hash
  logs: { address: Address; topics: [Hex, ...Hex[]]; data: Hex }[]
}

interface Block {
  hash: Hash
  timestamp: Hex
}

export interface Payment {
  /** USDC that the payer sent to these payees, in base units. */
  paid: bigint
  /** Whether the payer sent USDC to a split router. */
  isThroughRouter: boolean
  /** The time of the block, in Unix seconds. */
  at: number
}

const transfer = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
const TRANSFER = toEventSelector(transfer)
const readTransfer = compileEvent(transfer)

/** Throws `NotNow` while the transaction can still be undone by a reorganisation, or the chain cannot be read. */
export async function readPayment(
  { rpc, config: { contracts, confirmations } }: Chain,
  transaction: Hex,
  { payer, payees }: { payer: Address; payees: readonly Address[] },
): Promise<Payment> {
  const receipt = await asked(
    rpc.request<TransactionReceipt | null>('eth_getTransactionReceipt', [transaction]),
  )
  if (!receipt) throw new NotNow('the transaction is in no block that our nodes know')
  const blockAt = (number: number) =>
    asked(rpc.request<Block | null>('eth_getBlockByNumber', [numberToHex(number), false]))
  const number = hexToNumber(receipt.blockNumber)
  const [block, deep] = await Promise.all([blockAt(number), blockAt(number + confirmations - 1)])
  if (block?.hash !== receipt.blockHash || !deep) {
    throw new NotNow(`the transaction does not have ${confirmations} confirmations`)
  }
  if (receipt.status !== '0x1') throw new Unproven('the transaction failed: nothing was paid')
  const sent = receipt.logs
    .filter(({ address, topics }) => isAddressEqual(address, contracts.USDC) && topics[0] === TRANSFER)
    .map((log) => readTransfer(log) as { from: Address; to: Address; value: bigint })
    // Anybody can make a transfer of 0 from any account.
    .filter(({ from, value }) => isAddressEqual(from, payer) && value > 0n)
  const isTo = (to: Address, accounts: readonly Address[]) =>
    accounts.some((account) => isAddressEqual(account, to))
  return {
    paid: sent.reduce((sum, { to, value }) => (isTo(to, payees) ? sum + value : sum), 0n),
    isThroughRouter: sent.some(({ to }) => isTo(to, contracts.SplitRouter)),
    at: hexToNumber(block.timestamp),
  }
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw new NotNow('the nodes of the chain did not answer', { cause: error })
  }
}
