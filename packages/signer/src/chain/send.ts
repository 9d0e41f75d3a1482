// Transactions of an agent: simulated first, sent once, and awaited until a time-out.
import {
  type Abi,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  formatEther,
  type Hash,
  keccak256,
  type LocalAccount,
  parseEther,
  TransactionNotFoundError,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
} from 'viem'
import type { Context } from '../context.ts'
import { Refused, shortOf } from '../refused.ts'
import type { Chain } from './chain.ts'
import { ERRORS, readRevert } from './reverts.ts'

/** The highest fee of one transaction, so that a node with wrong fees cannot drain the wallet. A hundred times the fee of a busy day. */
const MOST_WEI = parseEther('0.02')

export interface Call<A extends Abi, F extends ContractFunctionName<A, 'nonpayable'>> {
  address: Address
  abi: A
  functionName: F
  args: ContractFunctionArgs<A, 'nonpayable', F>
}

/** Returns the receipt of a transaction that took effect. */
export function send<const A extends Abi, F extends ContractFunctionName<A, 'nonpayable'>>(
  context: Context,
  chain: Chain,
  account: LocalAccount,
  { address, abi, functionName, args }: Call<A, F>,
  beforeSending?: (hash: Hash, nonce: number) => Promise<void>,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({ abi, functionName, args } as EncodeFunctionDataParameters)
  // Two transactions at the same time would get the same nonce.
  return context.inTurn(`transactions of ${account.address}`, async () => {
    await chain.client
      .simulateContract({ account, address, abi: [...abi, ...ERRORS] as Abi, functionName, args } as never)
      .catch((error: unknown) => {
        throw readRevert(error)
      })
    const hash = await submit(chain, account, { to: address, data }, beforeSending)
    return mined(context, chain, hash)
  })
}

async function submit(
  { client, chainId }: Chain,
  account: LocalAccount,
  call: { to: Address; data: Hash },
  beforeSending?: (hash: Hash, nonce: number) => Promise<void>,
): Promise<Hash> {
  const [gas, nonce, fees] = await Promise.all([
    client.estimateGas({ account, ...call }),
    client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
    client.estimateFeesPerGas(),
  ]).catch((error: unknown) => {
    throw refusedByNode(error, account.address)
  })
  const limit = gas + gas / 5n
  const cost = limit * fees.maxFeePerGas
  if (cost > MOST_WEI) {
    throw new Refused(
      `the node asks for up to ${formatEther(cost)} ETH of gas, and the signer spends ${formatEther(MOST_WEI)} at most; nothing was sent`,
    )
  }
  const serializedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    gas: limit,
    ...fees,
    ...call,
  })
  const hash = keccak256(serializedTransaction)
  await beforeSending?.(hash, nonce)
  try {
    await client.sendRawTransaction({ serializedTransaction })
  } catch (error) {
    // The node may have accepted the transaction although its answer was lost.
    const found = await client.getTransaction({ hash }).catch((failure: unknown) => failure)
    if (found instanceof TransactionNotFoundError) throw refusedByNode(error, account.address)
    if (found instanceof Error) throw mayLand(hash, 'the node does not say whether it was taken')
  }
  return hash
}

const mayLand = (hash: Hash, what: string) =>
  new Refused(`transaction ${hash}: ${what}: it may still land, so look it up before you try again`)

const refusedByNode = (error: unknown, address: Address): unknown =>
  error instanceof BaseError
    ? new Refused(
        `the node took no transaction of ${address}: ${shortOf(error)} (does the wallet have ETH for gas?)`,
      )
    : error

/** Waits for a transaction that an earlier call sent, or was about to send; one that the node does not know was never sent. */
export async function awaitEarlier(context: Context, chain: Chain, hash: Hash): Promise<void> {
  const found = await chain.client.getTransaction({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionNotFoundError) return undefined
    throw error
  })
  if (found) await receiptOf(context, chain, hash)
}

async function mined(context: Context, chain: Chain, hash: Hash): Promise<TransactionReceipt> {
  const receipt = await receiptOf(context, chain, hash)
  if (receipt.status !== 'success') throw new Refused(`tx reverted: ${receipt.transactionHash}`)
  return receipt
}

const receiptOf = ({ timeouts }: Context, { client }: Chain, hash: Hash): Promise<TransactionReceipt> =>
  client.waitForTransactionReceipt({ hash, timeout: timeouts.mined }).catch((error: unknown) => {
    const isLate = error instanceof WaitForTransactionReceiptTimeoutError
    throw mayLand(
      hash,
      isLate
        ? `was sent and is not mined after ${timeouts.mined / 1_000} s`
        : 'was sent, and the node does not say what became of it',
    )
  })

export const eventNotFound = (name: string, hash: Hash): Refused =>
  new Refused(
    `event-not-found: transaction ${hash} succeeded without ${name}; check the contract addresses of the signer`,
  )
